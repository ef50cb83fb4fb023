"""A stand-in mindieservice_daemon: the simulator in real time behind MindIE's interfaces."""
