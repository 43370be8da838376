#!/usr/bin/env bash
# Makes regraft-VERSION-py3-none-manylinux_GLIBC_x86_64.whl of a release build: the program with its configs, the small
# libraries that a machine without root lacks, and the Python package `regraft`. LibTorch and ONNX Runtime are those of
# PyPI's torch and onnxruntime, which the wheel requires, where pip puts them; MPI, the driver and glibc are the
# machine's.
#   bash launch/wheel.sh [BUILD [OUT]]        (build/release and dist)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BUILD=${1:-build/release}
OUT=${2:-dist}
PYTHON=${PYTHON:-python3}

fail() {
  printf 'wheel: %s\n' "$*" >&2
  exit 1
}

# version NAME: of launch/setup.sh, where versions stand.
version() { sed -n "s/^$1_VERSION=//p" launch/setup.sh; }

# What the machine, torch or onnxruntime bring. The compiler's own libraries are on every machine, as glibc is.
SYSTEM='c|m|dl|rt|pthread|resolv|util|stdc[+][+]|gcc_s|gomp'
FOREIGN="^lib($SYSTEM|torch[a-z_]*|c10[a-z_]*|onnxruntime|cudart|cupti)[.]so"

# The libraries of the program that go into the wheel, a path a line.
own_libraries() {
  local missing
  missing=$(ldd "$BUILD/regraft" | awk '/not found/ { print $1 }')
  [[ -z $missing ]] || fail "$BUILD/regraft does not find $(xargs <<<"$missing"): build it again"
  ldd "$BUILD/regraft" | awk -v foreign="$FOREIGN" '$3 ~ /^\// && $1 !~ foreign { print $3 }'
}

# add_programs PACKAGE: stripped, and looking for libraries beside the package, whatever the working directory.
add_programs() {
  local program site="\$ORIGIN/../.."
  for program in regraft regraft_runtime; do
    install -D -t "$1/bin" "$BUILD/$program"
    strip "$1/bin/$program"
    patchelf --replace-needed libonnxruntime.so.1 "libonnxruntime.so.$(version ONNXRUNTIME)" "$1/bin/$program"
    patchelf --force-rpath "$1/bin/$program" \
      --set-rpath "\$ORIGIN/../lib:$site/torch/lib:$site/onnxruntime/capi:$site/nvidia/cu13/lib"
  done
  [[ ! -e $BUILD/libregraft_mpi.so ]] || install -s "$BUILD/libregraft_mpi.so" "$1/bin"
}

# add_libraries PACKAGE LICENCES: each with what its Debian package says of its licence.
add_libraries() {
  local library owner
  mkdir -p "$1/lib" "$2"
  for library in $(own_libraries); do
    install -m 644 "$library" "$1/lib/"
    strip --strip-unneeded "$1/lib/${library##*/}"
    owner=$(dpkg-query -S "$(readlink -f "$library")" 2>/dev/null || dpkg-query -S "*/${library##*/}") ||
      fail "no Debian package owns $library, so its licence is not known"
    owner=${owner%%:*}
    cp "/usr/share/doc/$owner/copyright" "$2/$owner"
  done
}

# add_package PACKAGE: configs but for results of experiments; the Python sources; the options of the program.
add_package() {
  cp -r configs "$1/"
  rm -r "$1/configs/experiments/"{results,*.py}
  install -D -m 644 -t "$1/experiments" launch/experiments/*.{py,html,toml,mplstyle}
  cp launch/python/regraft/{*.py,py.typed} "$1/"
  "$BUILD/regraft" completion json >"$1/commands.json"
  "$PYTHON" -B launch/python/make_stub.py "${1%/*}" >"$1/__init__.pyi"
}

# add_share SHARE: what shells and Slurm read.
add_share() {
  mkdir -p "$1/bash-completion/completions" "$1/zsh/site-functions"
  "$BUILD/regraft" completion bash >"$1/bash-completion/completions/regraft"
  "$BUILD/regraft" completion zsh >"$1/zsh/site-functions/_regraft"
  install -D -m 644 -t "$1/regraft" launch/slurm.sh
}

# add_metadata DIST_INFO VERSION TAG
add_metadata() {
  mkdir -p "$1"
  cat >"$1/METADATA" <<END
Metadata-Version: 2.1
Name: regraft
Version: $2
Summary: Rewrites ONNX models so that they run faster, and checks that they still compute the same
Requires-Python: >=3.11
Requires-Dist: torch==$(version TORCH)
Requires-Dist: onnxruntime==$(version ONNXRUNTIME)
Provides-Extra: openvino
Requires-Dist: openvino==$(version OPENVINO); extra == "openvino"
Provides-Extra: experiments
$(printf 'Requires-Dist: %s; extra == "experiments"\n' pandas matplotlib jinja2 xxhash crc32c)
Description-Content-Type: text/plain

$(how_to_install "regraft-$2-$3.whl")
END
  printf 'Wheel-Version: 1.0\nGenerator: launch/wheel.sh\nRoot-Is-Purelib: false\nTag: %s\n' "$3" >"$1/WHEEL"
  printf '[console_scripts]\nregraft = regraft._program:main\n' >"$1/entry_points.txt"
}

# how_to_install WHEEL: all of it, and without what only torch's own Python code and GPUs need.
how_to_install() {
  cat <<END
# 2.8 GB, with all that torch requires:
pip install $1
# 0.6 GB, what this program loads where there is no GPU:
pip install --no-deps $1 torch==$(version TORCH) onnxruntime==$(version ONNXRUNTIME) \\
  nvidia-cuda-runtime==$(version CUDA_RUNTIME) nvidia-cuda-cupti==$(version CUDA_CUPTI)
END
}

main() {
  [[ -x $BUILD/regraft ]] ||
    fail "$BUILD/regraft is missing: cmake --preset release && cmake --build --preset release --target regraft"
  command -v patchelf >/dev/null || fail "patchelf is missing: bash launch/setup.sh"
  local stage name tag info
  stage=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$stage'" EXIT
  name=regraft-$("$BUILD/regraft" --version | cut -d ' ' -f 2)
  tag=py3-none-manylinux_$(getconf GNU_LIBC_VERSION | sed 's/^glibc //; s/\./_/')_$(uname -m)
  info=$stage/$name.dist-info
  add_metadata "$info" "${name#*-}" "$tag"
  add_programs "$stage/regraft"
  add_libraries "$stage/regraft" "$info/licenses"
  add_package "$stage/regraft"
  add_share "$stage/$name.data/data/share"
  mkdir -p "$OUT"
  "$PYTHON" -B launch/python/pack.py "$stage" "$info" "$OUT/$name-$tag.whl"
  how_to_install "$OUT/$name-$tag.whl"
}

main
