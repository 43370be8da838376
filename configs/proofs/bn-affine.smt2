; bn-affine: BatchNormalization{eps}(x, scale, beta, mean, var), const(scale, beta, mean, var), rank(x) >= 2 => t = scale / Sqrt(var + eps); m = range(1, rank(x) - 1); Add(Mul(x, Unsqueeze{m}(t)), Unsqueeze{m}(beta - mean * t))
; For all dims; 3 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[i_9, i_10, i_11, i_12] t0_2_0[i_10] inverse(Sqrt(t0_5_0[i_10] + epsilon_8)) + -1 t0_4_0[i_10] t0_2_0[i_10] inverse(Sqrt(t0_5_0[i_10] + epsilon_8)) + t0_3_0[i_10]
;     and t0_1_0[i_9, i_10, i_11, i_12] t0_2_0[i_10] inverse(Sqrt(t0_5_0[i_10] + epsilon_8)) + t0_3_0[i_10] + -1 t0_4_0[i_10] t0_2_0[i_10] inverse(Sqrt(t0_5_0[i_10] + epsilon_8))
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
