"""No test fails because the machine is slow: Hypothesis by itself would set a time limit."""

from hypothesis import HealthCheck, settings

# On top of the settings in force, which in CI try the same examples each time.
settings.register_profile(
    "no-clock", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no-clock")
