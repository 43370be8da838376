; transpose-down-left: f:Binary(Transpose{p}(x), c), const(c), rank(c) <= len(p) => Transpose{p}(f(x, Transpose{invert(p)}(Reshape{[1 for i in range(len(p) - rank(c))] ++ dims(c)}(c))))
; For all dims; 153 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   f0(t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_8), (ite (= t0_2_0_d_1 1) 0 i_9), (ite (= t0_2_0_d_2 1) 0 i_10), (ite (= t0_2_0_d_3 1) 0 i_11)], t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_8), (ite (= t0_3_0_d_5 1) 0 i_9), (ite (= t0_3_0_d_6 1) 0 i_10), (ite (= t0_3_0_d_7 1) 0 i_11)])
;     and f0(t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_8), (ite (= t0_2_0_d_1 1) 0 i_9), (ite (= t0_2_0_d_2 1) 0 i_10), (ite (= t0_2_0_d_3 1) 0 i_11)], t0_3_0[(ite (= t0_3_0_d_4 1) 0 i_8), (ite (= t0_3_0_d_5 1) 0 i_9), (ite (= t0_3_0_d_6 1) 0 i_10), (ite (= t0_3_0_d_7 1) 0 i_11)])
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (or (= n0 n1) (= n0 1) (= n1 1)))
(assert (not (or (= n0 n1) (= n0 1) (= n1 1))))
(check-sat)
(pop)
