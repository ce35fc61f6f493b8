"""The intake over HTTP: whether new work is started."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from core.domain.models.base import Model
from core.entrypoints.api.sessions import WorkServiceDep
from core.entrypoints.service.work import IntakeState

router = APIRouter(prefix="/intake", tags=["intake"])


class Pausing(Model):
    """Why work is paused, for whoever looks."""

    reason: str = Field(default="", max_length=2000)


@router.get("")
async def get_intake(service: WorkServiceDep) -> IntakeState:
    """Whether work is paused or held back, since when and why."""
    return await service.state()


@router.post("/pause")
async def pause_intake(pausing: Pausing, service: WorkServiceDep) -> IntakeState:
    """Begin no new work, of any tenant; what runs goes on, and feedback is still taken in."""
    return await service.pause(pausing.reason)


@router.post("/resume")
async def resume_intake(service: WorkServiceDep) -> IntakeState:
    """Begin new work again."""
    return await service.resume()
