; mean-scale: f:ReduceMean{*, axes=[a]}(Mul(x, c)), const(c), size(c) == 1, rank(c) == 0 => Mul(f(x), c)
; For all dims; 30 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!638: [(and (>= k!638 0) (< k!638 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_5, i_6, i_7, i_8, k!638] t0_3_0
;     and sum k!641: [(and (>= k!641 0) (< k!641 t0_2_0_d_4))] one_over[t0_2_0_d_4] t0_2_0[i_5, i_6, i_7, i_8, k!641] t0_3_0
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
