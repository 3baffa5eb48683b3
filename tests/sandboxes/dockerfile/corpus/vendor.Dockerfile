# Built on what a maker ships.
FROM nvidia/cuda:12.1.0-devel-ubuntu22.04
RUN nvcc --version
