"""How the workers of a training run find each other: the process group of torch.

Ray's own group meets at a port that is open on every interface and asks nobody for a token. Workers on one
machine meet in a file instead, and talk over the loopback interface.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


def no_group_of_ray() -> Any:
    """A configuration of Ray's trainer that leaves the group to the training function."""
    from ray.train.backend import Backend
    from ray.train.torch import TorchConfig

    class NoGroup(Backend):  # type: ignore[misc]
        share_cuda_visible_devices = True

    class NoGroupConfig(TorchConfig):  # type: ignore[misc]
        @property
        def backend_cls(self) -> type[NoGroup]:
            return NoGroup

    return NoGroupConfig()


@contextmanager
def joined(folder: Path) -> Iterator[None]:
    """In a training function: the process group of all workers. The folder is the worker's own, and new."""
    import torch.distributed as dist
    from ray.train import get_context
    from ray.train.collective import broadcast_from_rank_zero
    from ray.train.torch import get_device

    context = get_context()
    rank, size = context.get_world_rank(), context.get_world_size()
    if size == 1:
        yield
        return
    if context.get_local_world_size() == size:
        url = f"file://{folder}/group"
        for name in INTERFACES:
            os.environ.setdefault(name, _loopback())
    else:
        url = _url() if rank == 0 else ""
    backend = "nccl" if get_device().type == "cuda" else "gloo"
    url = broadcast_from_rank_zero(url)
    dist.init_process_group(backend, init_method=url, rank=rank, world_size=size)
    try:
        yield
    finally:
        dist.destroy_process_group()


def _loopback() -> str:
    """The name of the loopback interface: lo, or lo0."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))


def _url() -> str:
    """An address of this node that the others reach, with a port that is free."""
    from ray.util import get_node_ip_address

    address = get_node_ip_address()
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as free:
        free.bind((address, 0))
        port = free.getsockname()[1]
    return f"tcp://[{address}]:{port}" if ":" in address else f"tcp://{address}:{port}"
