"""The explanation of failing tests, stage by stage: the one place where the stages meet."""

from afterd.pipeline.explain import explain
from afterd.pipeline.replay import replay, revert_patch

__all__ = ["explain", "replay", "revert_patch"]
