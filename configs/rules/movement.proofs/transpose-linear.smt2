; transpose-linear: MatMul(Transpose{p}(x), w), const(w), rank(w) == 2, p[-1] == len(p) - 1, len(p) >= 2 => Transpose{p}(MatMul(x, w))
; For all dims; 33 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!1619: [(and (>= k!1619 0) (< k!1619 t0_2_0_d_4))] t0_2_0[i_7, i_8, i_9, i_10, k!1619] t0_3_0[k!1619, i_11]
;     and sum k!1621: [(and (>= k!1621 0) (< k!1621 t0_2_0_d_4))] t0_2_0[i_7, i_8, i_9, i_10, k!1621] t0_3_0[k!1621, i_11]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
