"""vLLM, real or patched for Ascend: command lines and run_vllm.sh scripts in, a running server out."""
