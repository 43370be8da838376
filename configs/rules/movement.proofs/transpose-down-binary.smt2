; transpose-down-binary: f:Binary(Transpose{p}(x), Transpose{p}(y)), rank(x) == rank(y) => Transpose{p}(f(x, y))
; For all dims; 154 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   f0(t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_10), (ite (= t0_2_0_d_1 1) 0 i_11), (ite (= t0_2_0_d_2 1) 0 i_12), (ite (= t0_2_0_d_3 1) 0 i_13), (ite (= t0_2_0_d_4 1) 0 i_14)], t0_4_0[(ite (= t0_4_0_d_5 1) 0 i_10), (ite (= t0_4_0_d_6 1) 0 i_11), (ite (= t0_4_0_d_7 1) 0 i_12), (ite (= t0_4_0_d_8 1) 0 i_13), (ite (= t0_4_0_d_9 1) 0 i_14)])
;     and f0(t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_10), (ite (= t0_2_0_d_1 1) 0 i_11), (ite (= t0_2_0_d_2 1) 0 i_12), (ite (= t0_2_0_d_3 1) 0 i_13), (ite (= t0_2_0_d_4 1) 0 i_14)], t0_4_0[(ite (= t0_4_0_d_5 1) 0 i_10), (ite (= t0_4_0_d_6 1) 0 i_11), (ite (= t0_4_0_d_7 1) 0 i_12), (ite (= t0_4_0_d_8 1) 0 i_13), (ite (= t0_4_0_d_9 1) 0 i_14)])
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (or (= n0 n1) (= n0 1) (= n1 1)))
(assert (not (or (= n0 n1) (= n0 1) (= n1 1))))
(check-sat)
(pop)
