"""Student's t against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, stdtr, stdtrit

from autotune.statistics.student import regularized_beta, t_cdf, t_quantile


@given(p=st.floats(0.0005, 0.9995), dof=st.floats(1.0, 5000.0))
def test_quantiles_are_those_of_scipy(p, dof):
    assert t_quantile(p, dof) == pytest.approx(float(stdtrit(dof, p)), rel=1e-8, abs=1e-9)


@given(t=st.floats(-50.0, 50.0), dof=st.floats(0.5, 5000.0))
def test_the_distribution_function_is_that_of_scipy(t, dof):
    assert t_cdf(t, dof) == pytest.approx(float(stdtr(dof, t)), rel=1e-8, abs=1e-7)


@given(x=st.floats(-0.5, 1.5), a=st.floats(0.2, 200.0), b=st.floats(0.2, 200.0))
def test_the_incomplete_beta_is_that_of_scipy(x, a, b):
    assert regularized_beta(x, a, b) == pytest.approx(
        float(betainc(a, b, min(max(x, 0.0), 1.0))), rel=1e-7, abs=1e-10
    )


@given(p=st.floats(0.001, 0.999), dof=st.floats(1.0, 1e9))
def test_a_quantile_is_the_inverse_of_the_distribution_function(p, dof):
    assert t_cdf(t_quantile(p, dof), dof) == pytest.approx(p, abs=1e-8)


def test_tables_of_textbooks_are_met():
    assert t_quantile(0.975, 1) == pytest.approx(12.706, abs=5e-4)
    assert t_quantile(0.975, 9) == pytest.approx(2.262, abs=5e-4)
    assert t_quantile(0.95, 1e12) == pytest.approx(1.645, abs=5e-4)


@pytest.mark.parametrize(("p", "dof"), [(0.0, 3), (1.0, 3), (-0.1, 3), (0.5, 0), (0.5, -1)])
def test_what_has_no_quantile_is_refused(p, dof):
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, dof)
