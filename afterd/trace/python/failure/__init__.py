"""The failed assertion as the test runner reported it."""
