; gather-gemm: Gather{axis=0}(Gemm{alpha,beta,ta=0,tb}(x, w, c?), i), const(i), rank(i) == 1, not present(c) or rank(c) <= 1 => Gemm{alpha,beta,0,tb}(Gather{0}(x, i), w, c)
; For all dims; 6 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; The last case is
;   sum k!176: [(and (>= k!176 0) (< k!176 t0_2_0_d_1))] alpha_5 t0_2_0[(ite (< (t0_5_0 i_8) 0) (+ (t0_5_0 i_8) t0_2_0_d_0) (t0_5_0 i_8)), k!176] t0_3_0[i_9, k!176] + beta_6 t0_4_0[(ite (= t0_4_0_d_4 1) 0 i_9)]
;     and sum k!179: [(and (>= k!179 0) (< k!179 t0_2_0_d_1))] alpha_5 t0_2_0[(ite (< (t0_5_0 i_8) 0) (+ (t0_5_0 i_8) t0_2_0_d_0) (t0_5_0 i_8)), k!179] t0_3_0[i_9, k!179] + beta_6 t0_4_0[(ite (= t0_4_0_d_4 1) 0 i_9)]
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
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= (ite (= n0 1) n1 n0) n0))
(assert (not (= (ite (= n0 1) n1 n0) n0)))
(check-sat)
(pop)
