"""NeMo Gym: requests that an agent sends, verified by a resources server, and rollouts of them."""

from rlx.formats.processors.nemo_gym.rollouts import NeMoGymRollouts
from rlx.formats.processors.nemo_gym.tasks import NeMoGym

__all__ = ["NeMoGym", "NeMoGymRollouts"]
