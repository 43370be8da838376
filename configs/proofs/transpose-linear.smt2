; transpose-linear: MatMul(Transpose{p}(x), w), const(w), rank(w) == 2, p[-1] == len(p) - 1, len(p) >= 2 => Transpose{p}(MatMul(x, w))
; For all dims; 3 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   sum k!51: [(and (>= k!51 0) (< k!51 t0_2_0_d_2))] t0_2_0[i_5, i_6, k!51] t0_3_0[k!51, i_7]
;     and sum k!53: [(and (>= k!53 0) (< k!53 t0_2_0_d_2))] t0_2_0[i_5, i_6, k!53] t0_3_0[k!53, i_7]
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
