# Sourced by launch/setup.sh: what libtorch_cuda.so needs beyond the CUDA runtime, on machines with an NVIDIA driver
# only (REGRAFT_CUDA=1 or =0 overrides). A toolkit that the dynamic linker knows is used; what it lacks comes from the
# wheels that the torch wheel names, about 2 GB without any toolkit.

CUDA_TOOLKIT_VERSION=13.0.2
CUDNN_VERSION=9.19.0.56
CUSPARSELT_VERSION=0.8.0
NCCL_VERSION=2.28.9
NVSHMEM_VERSION=3.4.5

gpu_is_there() { [[ ${REGRAFT_CUDA:-} != 0 && (${REGRAFT_CUDA:-} == 1 || -e /dev/nvidiactl) ]]; }

# The libraries that libtorch_cuda.so of the given prefix does not find; the driver's own is none of ours.
missing_cuda_libraries() {
  ldd "$1/torch/lib/libtorch_cuda.so" | awk '/not found/ && $1 !~ /^libcuda\.so/ { print $1 }'
}

# The requirement, as pip writes it, that brings a library.
wheel_of() {
  case $1 in
    libcudnn*) echo "nvidia-cudnn-cu13==$CUDNN_VERSION" ;;
    libcusparseLt*) echo "nvidia-cusparselt-cu13==$CUSPARSELT_VERSION" ;;
    libnccl*) echo "nvidia-nccl-cu13==$NCCL_VERSION" ;;
    libnvshmem*) echo "nvidia-nvshmem-cu13==$NVSHMEM_VERSION" ;;
    libcublas*) echo "cuda-toolkit[cublas]==$CUDA_TOOLKIT_VERSION" ;;
    libcufft*) echo "cuda-toolkit[cufft]==$CUDA_TOOLKIT_VERSION" ;;
    libcufile*) echo "cuda-toolkit[cufile]==$CUDA_TOOLKIT_VERSION" ;;
    libcurand*) echo "cuda-toolkit[curand]==$CUDA_TOOLKIT_VERSION" ;;
    libcusolver*) echo "cuda-toolkit[cusolver]==$CUDA_TOOLKIT_VERSION" ;;
    libcusparse*) echo "cuda-toolkit[cusparse]==$CUDA_TOOLKIT_VERSION" ;;
    libnvJitLink*) echo "cuda-toolkit[nvjitlink]==$CUDA_TOOLKIT_VERSION" ;;
    libnvrtc*) echo "cuda-toolkit[nvrtc]==$CUDA_TOOLKIT_VERSION" ;;
    libnvToolsExt* | libnvtx*) echo "cuda-toolkit[nvtx]==$CUDA_TOOLKIT_VERSION" ;;
    *) fail "no wheel is known for $1, which LibTorch needs on a GPU" ;;
  esac
}

cuda_is_there() { ! gpu_is_there || [[ -z $(missing_cuda_libraries "$TORCH_PREFIX") ]]; }

# Into a copy of the prefix (hard links), which then takes its place: programs that run keep what they have open.
fetch_cuda_libraries() {
  local library wheel wheels=()
  say "an NVIDIA driver is here: fetching LibTorch's CUDA libraries"
  for library in $(missing_cuda_libraries "$TORCH_PREFIX"); do
    wheel=$(wheel_of "$library")
    wheels+=("$wheel")
  done
  mkdir -p "$WORK/cuda-wheels"
  fetch_wheels_with_needs "$WORK/cuda-wheels" "${wheels[@]}"
  cp -al "$TORCH_PREFIX" "$WORK/torch-cuda"
  unpack_wheels "$WORK/cuda-wheels" "$WORK/torch-cuda" nvidia/
  rm -rf "$WORK/cuda-wheels"
  [[ -z $(missing_cuda_libraries "$WORK/torch-cuda") ]] ||
    fail "LibTorch still lacks $(missing_cuda_libraries "$WORK/torch-cuda" | xargs); REGRAFT_CUDA=0 goes on without CUDA"
  move_in_place "$WORK/torch-cuda" "$TORCH_PREFIX"
}
