; slice-linear: f:Slice{*, axes=[a]}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(f(x), w)
; For all dims; 10 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!313: [(and (>= k!313 0) (< k!313 t0_2_0_d_4))] t0_2_0[i_10, i_11, i_12, (+ (* i_13 steps_9) starts_7), k!313] t0_3_0[k!313, i_14]
;     and sum k!315: [(and (>= k!315 0) (< k!315 t0_2_0_d_4))] t0_2_0[i_10, i_11, i_12, (+ (* i_13 steps_9) starts_7), k!315] t0_3_0[k!315, i_14]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1)))
(assert (not (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1))))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
