; gather-softmax: Gather{a}(Softmax{b}(x), i), const(i), rank(i) == 1, a != b => Softmax{b}(Gather{a}(x, i))
; For all dims; 8 cases, ranks to 3.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   Exp(t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), i_6]) inverse(sum k!275: [(and (>= k!275 0) (< k!275 t0_2_0_d_2))] Exp(t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), k!275]))
;     and Exp(t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), i_6]) inverse(sum k!277: [(and (>= k!277 0) (< k!277 t0_2_0_d_2))] Exp(t0_2_0[i_4, (ite (< (t0_3_0 i_5) 0) (+ (t0_3_0 i_5) t0_2_0_d_1) (t0_3_0 i_5)), k!277]))
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
