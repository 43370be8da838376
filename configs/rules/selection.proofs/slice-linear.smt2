; slice-linear: f:Slice{*, axes=[a]}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(f(x), w)
; For all dims; 6 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!129: [(and (>= k!129 0) (< k!129 t0_2_0_d_3))] t0_2_0[i_9, i_10, (+ (* i_11 steps_8) starts_6), k!129] t0_3_0[k!129, i_12]
;     and sum k!131: [(and (>= k!131 0) (< k!131 t0_2_0_d_3))] t0_2_0[i_9, i_10, (+ (* i_11 steps_8) starts_6), k!131] t0_3_0[k!131, i_12]
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
