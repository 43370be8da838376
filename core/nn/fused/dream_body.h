// No include guard: included after fused_body.h in each fused_*.cc, in the namespace of its instruction set.

inline constexpr int kPanelVectors = 4;
inline constexpr int kPanel = kPanelVectors * kLanes;
inline constexpr int kDreamRows = REGRAFT_DREAM_ROWS;
inline constexpr std::size_t kRowGroup =
    96;  // rows that go through all panels together: they stay in the cache

typedef double Double
    __attribute__((vector_size(sizeof(float) * kLanes), aligned(sizeof(double)), may_alias));
typedef long long Long __attribute__((vector_size(sizeof(float) * kLanes)));
inline constexpr int kDoubles = kLanes / 2;

inline Vector splat(float value) {
  return value - Vector{};
}
inline Double splat_double(double value) {
  return value - Double{};
}
inline Vector least(Vector a, Vector b) {
  return a < b ? a : b;
}
inline Vector most(Vector a, Vector b) {
  return a > b ? a : b;
}

/// Within 2e-7 of exp(x), relative, for x in [-87, 88]; clamped outside. Range reduction after Cody and
/// Waite.
inline Vector exp_of(Vector x) {
  x = least(most(x, splat(-87.0f)), splat(88.0f));
  const Vector rounder = splat(12582912.0f);  // 1.5 * 2^23: its low bits become the rounded integer
  const Vector shifted = x * 1.44269504088896341f + rounder;
  const Vector n = shifted - rounder;
  const Vector r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Vector p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Index power = (reinterpret_cast<Index>(shifted) - 0x4B400000 + 127) << 23;
  return p * reinterpret_cast<Vector>(power);
}

inline Vector tanh_of(Vector x) {
  const Vector e = exp_of(2.0f * least(most(x, splat(-15.0f)), splat(15.0f)));
  return (e - 1.0f) / (e + 1.0f);
}

/// log(1 + y) for y in [0, 1], within 1e-7, as 2 atanh(y / (2 + y)).
inline Vector log_one_plus(Vector y) {
  const Vector s = y / (y + 2.0f), q = s * s;
  Vector p = splat(1.0f / 13);
  p = p * q + 1.0f / 11;
  p = p * q + 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  return 2.0f * (s * q * p + s);
}

inline Vector softplus(Vector x) {
  const Vector zero = {};
  const Vector size = x > zero ? x : -x;
  return most(x, zero) + log_one_plus(exp_of(-size));
}

/// The natural logarithm of x in [2^-53, 1], within 1e-12, by exponent and 2 atanh((m - 1) / (m + 1)).
inline Double log_of(Double x) {
  const Long bits = reinterpret_cast<Long>(x);
  const Long shifted = bits - 0x3FE6A09E667F3BCDll;  // of sqrt(1/2): m lies in [sqrt(1/2), sqrt(2))
  const Long exponent = shifted >> 52;
  const Long mantissa = bits - (exponent << 52);
  const Long biased = exponent + 0x4338000000000000ll;  // the bits of 1.5 * 2^52 + exponent
  const Double e = reinterpret_cast<Double>(biased) - 6755399441055744.0;
  const Double m = reinterpret_cast<Double>(mantissa);
  const Double s = (m - 1.0) / (m + 1.0), q = s * s;
  Double p = splat_double(1.0 / 13);
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  return e * 0.69314718055994530942 + 2.0 * (s * q * p + s);
}

/// cos(2 pi u) for u in [0, 1), within 1e-13.
inline Double cos_of_turn(Double u) {
  const Double t = u - 0.5;
  const Double size = t < 0.0 ? -t : t;
  const Double y = (0.25 - size) * -6.28318530717958647692;
  const Double q = y * y;
  Double p = splat_double(2.8114572543455206e-15);  // 1 / 17!
  p = p * q - 7.6471637318198164e-13;
  p = p * q + 1.6059043836821613e-10;
  p = p * q - 2.5052108385441720e-08;
  p = p * q + 2.7557319223985893e-06;
  p = p * q - 1.9841269841269841e-04;
  p = p * q + 8.3333333333333333e-03;
  p = p * q - 1.6666666666666667e-01;
  return p * q * y + y;
}

inline Double square_root(Double x) {
  for (int i = 0; i < kDoubles; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}

/// R rows of one panel in registers: start + x W.
template <int R>
struct PanelTile {
  Vector row[R][kPanelVectors];

  __attribute__((always_inline)) void product(const float* const (&x)[R], const float* weight,
                                              const float* start, std::size_t depth) {
    for (int r = 0; r < R; ++r)
      for (int i = 0; i < kPanelVectors; ++i) row[r][i] = load(start + i * kLanes);
    for (std::size_t k = 0; k < depth; ++k) {
      Vector w[kPanelVectors];
      for (int i = 0; i < kPanelVectors; ++i) w[i] = load(weight + k * kPanel + i * kLanes);
      for (int r = 0; r < R; ++r) {
        for (int i = 0; i < kPanelVectors; ++i) row[r][i] += x[r][k] * w[i];
      }
    }
  }
};

inline std::size_t row_at(const std::uint32_t* order, std::size_t i) {
  return order == nullptr ? i : order[i];
}

template <int R>
struct ProductTile {
  static void run(const DreamProduct& p, std::size_t panel, std::size_t first) {
    std::size_t rows[R];
    const float* x[R];
    for (int r = 0; r < R; ++r) {
      rows[r] = row_at(p.order, first + r);
      x[r] = p.x + rows[r] * p.x_stride;
    }
    PanelTile<R> tile;
    tile.product(x, p.weight + panel * p.depth * kPanel, p.start + panel * kPanel, p.depth);
    for (int r = 0; r < R; ++r)
      for (int i = 0; i < kPanelVectors; ++i)
        store(p.out + rows[r] * p.out_stride + panel * kPanel + i * kLanes, tile.row[r][i]);
  }
};

template <int R>
struct LstmTile {
  static void run(const DreamLstm& p, std::size_t block, std::size_t first) {
    std::size_t rows[R];
    const float* x[R];
    for (int r = 0; r < R; ++r) {
      rows[r] = row_at(p.order, first + r);
      x[r] = p.x + rows[r] * p.x_stride;
    }
    PanelTile<R> tile;
    tile.product(x, p.weight + block * p.depth * kPanel, p.bias + block * kPanel, p.depth);
    for (int r = 0; r < R; ++r) {
      float* cell = p.cell + rows[r] * p.cell_stride + block * kLanes;
      const Vector forget = exp_of(-tile.row[r][1]) + 1.0f;
      const Vector input = exp_of(-tile.row[r][0]) + 1.0f;
      const Vector g = exp_of(2.0f * least(most(tile.row[r][2], splat(-15.0f)), splat(15.0f)));
      const Vector next = load(cell) / forget + (g - 1.0f) / (input * (g + 1.0f));
      const Vector output = exp_of(-tile.row[r][3]) + 1.0f;
      const Vector e = exp_of(2.0f * least(most(next, splat(-15.0f)), splat(15.0f)));
      store(cell, next);
      store(p.hidden + rows[r] * p.hidden_stride + block * kLanes, (e - 1.0f) / (output * (e + 1.0f)));
    }
  }
};

/// Rows in tiles of kDreamRows, what is left in one smaller tile.
template <template <int> class Tile, int R, typename Pass>
inline void rest_of_rows(const Pass& pass, std::size_t panel, std::size_t first, std::size_t count) {
  if constexpr (R > 0) {
    if (count == R) return Tile<R>::run(pass, panel, first);
    rest_of_rows<Tile, R - 1>(pass, panel, first, count);
  }
}

template <template <int> class Tile, typename Pass>
inline void for_panels(const Pass& pass, std::size_t panels) {
  for (std::size_t group = 0; group < pass.rows; group += kRowGroup) {
    const std::size_t end = group + kRowGroup < pass.rows ? group + kRowGroup : pass.rows;
    for (std::size_t panel = 0; panel < panels; ++panel) {
      std::size_t first = group;
      for (; first + kDreamRows <= end; first += kDreamRows) Tile<kDreamRows>::run(pass, panel, first);
      rest_of_rows<Tile, kDreamRows - 1>(pass, panel, first, end - first);
    }
  }
}

inline void dream_product(const DreamProduct& product) {
  for_panels<ProductTile>(product, product.panels);
}
inline void dream_lstm(const DreamLstm& lstm) {
  for_panels<LstmTile>(lstm, lstm.blocks);
}

inline void dream_narrow(const float* x, std::size_t depth, const float* weight, std::size_t stride,
                         const float* start, float* out, std::size_t columns) {
  constexpr std::size_t kChains = 4;  // one sum would wait for itself
  for (std::size_t i = 0; i < columns; i += kLanes) {
    Vector sums[kChains] = {load(start + i)};
    std::size_t k = 0;
    for (; k + kChains <= depth; k += kChains)
      for (std::size_t chain = 0; chain < kChains; ++chain)
        sums[chain] += x[k + chain] * load(weight + (k + chain) * stride + i);
    for (; k < depth; ++k) sums[0] += x[k] * load(weight + k * stride + i);
    store(out + i, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

inline void dream_tanh(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) store(values + i, tanh_of(load(values + i)));
}

inline float dream_exponentials(const float* x, float shift, float scale, float* out, std::size_t count) {
  Vector sum = {};
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Vector e = exp_of((load(x + i) - shift) * scale);
    store(out + i, e);
    sum += e;
  }
  const Vector row[1] = {sum};
  return lane_sums(row)[0];
}

inline void dream_draw(const DreamDraw& draw) {
  for (std::size_t i = 0; i < draw.count; i += kLanes) {
    const Vector mean = load(draw.mean + i);
    if (draw.radius == nullptr) {
      store(draw.z + i, mean);
      continue;
    }
    Vector normal;
    for (int half = 0; half < 2; ++half) {
      const auto at = i + half * kDoubles;
      const Double u = *reinterpret_cast<const Double*>(draw.radius + at);
      const Double v = *reinterpret_cast<const Double*>(draw.angle + at);
      const Double drawn = square_root(-2.0 * log_of(1.0 - u)) * cos_of_turn(v);
      for (int lane = 0; lane < kDoubles; ++lane)
        normal[half * kDoubles + lane] = static_cast<float>(drawn[lane]);
    }
    const Vector sigma = softplus(load(draw.raw + i)) + draw.floor;
    store(draw.z + i, mean + draw.scale * sigma * normal);
  }
}

inline DreamKernels dream_kernels() {
  return {kLanes,     kPanel,       dream_product, dream_lstm,
          dream_draw, dream_narrow, dream_tanh,    dream_exponentials};
}
