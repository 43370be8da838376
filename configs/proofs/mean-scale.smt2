; mean-scale: f:ReduceMean{*, axes=[a]}(Mul(x, c)), const(c), size(c) == 1, rank(c) == 0 => Mul(f(x), c)
; For all dims; 12 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!144: [(and (>= k!144 0) (< k!144 t0_2_0_d_2))] one_over[t0_2_0_d_2] t0_2_0[i_3, i_4, k!144] t0_3_0
;     and sum k!147: [(and (>= k!147 0) (< k!147 t0_2_0_d_2))] one_over[t0_2_0_d_2] t0_2_0[i_3, i_4, k!147] t0_3_0
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
