; gather-linear-bias: Gather{a}(Add(MatMul(x, w), b), i), const(i), rank(i) == 1, rank(w) == 2, rank(b) <= 1, a < rank(x) - 1 => Add(MatMul(Gather{a}(x, i), w), b)
; For all dims; 6 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; The last case is
;   sum k!305: [(and (>= k!305 0) (< k!305 t0_3_0_d_2))] t0_3_0[i_7, (ite (<= 0 (t0_6_0 i_8)) (t0_6_0 i_8) (+ (t0_6_0 i_8) t0_3_0_d_1)), k!305] t0_4_0[k!305, (ite (= t0_4_0_d_4 1) 0 i_9)] + t0_5_0[(ite (= t0_5_0_d_5 1) 0 i_9)]
;     and sum k!307: [(and (>= k!307 0) (< k!307 t0_3_0_d_2))] t0_3_0[i_7, (ite (< (t0_6_0 i_8) 0) (+ (t0_6_0 i_8) t0_3_0_d_1) (t0_6_0 i_8)), k!307] t0_4_0[k!307, (ite (= t0_4_0_d_4 1) 0 i_9)] + t0_5_0[(ite (= t0_5_0_d_5 1) 0 i_9)]
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
