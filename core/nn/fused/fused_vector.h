// Included by fused_body.h, under its rules: vectors of as many floats as the instruction set holds.

inline constexpr int kLanes = REGRAFT_LANES;

typedef float Vector __attribute__((vector_size(sizeof(float) * kLanes), aligned(sizeof(float)), may_alias));
typedef int Index __attribute__((vector_size(sizeof(int) * kLanes)));

inline Vector load(const float* from) {
  return *reinterpret_cast<const Vector*>(from);
}
inline void store(float* to, Vector v) {
  *reinterpret_cast<Vector*>(to) = v;
}

inline Vector permute(Vector v, Index lanes) {
#if defined(__clang__)
  return __builtin_shufflevector(v, lanes);
#else
  return __builtin_shuffle(v, lanes);
#endif
}

inline Index lane_numbers() {
  Index lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  return lane;
}

/// Row r of `spread` (a vector's lane r) in all lanes.
inline Vector broadcast(Vector spread, int r) {
  return permute(spread, Index{} + r);
}

/// Two vectors that are to be summed over lanes as one: lanes without the bit `kDistance` go on with a, those
/// with it with b.
template <int kDistance>
inline Vector fold(Vector a, Vector b) {
  const Index lane = lane_numbers();
  const Index second = (lane & kDistance) != 0;
  return (second ? b : a) + permute(second ? a : b, lane ^ kDistance);
}

template <int kDistance, int kRows>
inline Vector lane_tree(const Vector* rows) {
  if constexpr (kDistance == 0) {
    return rows[0];
  } else if constexpr (kRows == 1) {
    const Vector folded = rows[0] + permute(rows[0], lane_numbers() ^ kDistance);
    return lane_tree<kDistance / 2, 1>(&folded);
  } else {
    Vector folded[kRows / 2];
    for (int i = 0; i < kRows / 2; ++i) folded[i] = fold<kDistance>(rows[2 * i], rows[2 * i + 1]);
    return lane_tree<kDistance / 2, kRows / 2>(folded);
  }
}

/// The sum over all lanes of each row, in the row's own lane. Halves are added, then quarters, so a row gives
/// the same bits alone and among others. Two rows share one shuffle.
template <int R>
inline Vector lane_sums(const Vector (&rows)[R]) {
  static_assert(R <= kLanes);
  if constexpr (R == 1) {
    return lane_tree<kLanes / 2, 1>(rows);
  } else {
    constexpr int kRows = R <= 2 ? 2 : R <= 4 ? 4 : R <= 8 ? 8 : 16;
    Vector all[kRows] = {};
    for (int r = 0; r < R; ++r) all[r] = rows[r];
    Index from;  // bit i of a row's number was folded at the distance kLanes / 2 / 2^i
    for (int lane = 0; lane < kLanes; ++lane) {
      from[lane] = 0;
      for (int bit = 0; 1 << bit < kRows; ++bit) from[lane] |= (lane >> bit & 1) * (kLanes / 2 >> bit);
    }
    return permute(lane_tree<kLanes / 2, kRows>(all), from);
  }
}

/// The first R lanes.
template <int R>
inline void store_lanes(float* to, Vector v) {
  __builtin_memcpy(to, &v, sizeof(float) * R);
}

inline Vector inverse_root(Vector v) {
  Vector root;
  for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrtf(v[i]);
  return 1.0f / root;
}
