; bn-affine: BatchNormalization{eps}(x, scale, beta, mean, var), const(scale, beta, mean, var), rank(x) >= 2 => t = scale / Sqrt(var + eps); m = range(1, rank(x) - 1); Add(Mul(x, Unsqueeze{m}(t)), Unsqueeze{m}(beta - mean * t))
; For all dims; 4 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[i_10, i_11, i_12, i_13, i_14] t0_2_0[i_11] inverse(Sqrt(t0_5_0[i_11] + epsilon_9)) + -1 t0_4_0[i_11] t0_2_0[i_11] inverse(Sqrt(t0_5_0[i_11] + epsilon_9)) + t0_3_0[i_11]
;     and t0_1_0[i_10, i_11, i_12, i_13, i_14] t0_2_0[i_11] inverse(Sqrt(t0_5_0[i_11] + epsilon_9)) + t0_3_0[i_11] + -1 t0_4_0[i_11] t0_2_0[i_11] inverse(Sqrt(t0_5_0[i_11] + epsilon_9))
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
