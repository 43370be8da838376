; gather-linear-bias: Gather{a}(Add(MatMul(x, w), b), i), const(i), rank(i) == 1, rank(w) == 2, rank(b) <= 1, a < rank(x) - 1 => Add(MatMul(Gather{a}(x, i), w), b)
; For all dims; 20 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!1617: [(and (>= k!1617 0) (< k!1617 t0_3_0_d_4))] t0_3_0[i_9, i_10, i_11, (ite (<= 0 (t0_6_0 i_12)) (t0_6_0 i_12) (+ (t0_6_0 i_12) t0_3_0_d_3)), k!1617] t0_4_0[k!1617, (ite (= t0_4_0_d_6 1) 0 i_13)] + t0_5_0[(ite (= t0_5_0_d_7 1) 0 i_13)]
;     and sum k!1619: [(and (>= k!1619 0) (< k!1619 t0_3_0_d_4))] t0_3_0[i_9, i_10, i_11, (ite (< (t0_6_0 i_12) 0) (+ (t0_6_0 i_12) t0_3_0_d_3) (t0_6_0 i_12)), k!1619] t0_4_0[k!1619, (ite (= t0_4_0_d_6 1) 0 i_13)] + t0_5_0[(ite (= t0_5_0_d_7 1) 0 i_13)]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (or (= n0 n1) (= n0 1) (= n1 1)))
(assert (not (or (= n0 n1) (= n0 1) (= n1 1))))
(check-sat)
(pop)
