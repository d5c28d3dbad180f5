from collections.abc import Callable
from typing import Any, Self, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class CallbackSupportMixin:
    def set_callbacks(self, *callbacks: Any) -> Self: ...

def with_callbacks(method: _F) -> _F: ...
