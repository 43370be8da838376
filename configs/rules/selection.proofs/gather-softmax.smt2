; gather-softmax: Gather{a}(Softmax{b}(x), i), const(i), rank(i) == 1, a != b => Softmax{b}(Gather{a}(x, i))
; For all dims; 40 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   Exp(t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), i_10]) inverse(sum k!2647: [(and (>= k!2647 0) (< k!2647 t0_2_0_d_4))] Exp(t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), k!2647]))
;     and Exp(t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), i_10]) inverse(sum k!2649: [(and (>= k!2649 0) (< k!2649 t0_2_0_d_4))] Exp(t0_2_0[i_6, i_7, i_8, (ite (< (t0_3_0 i_9) 0) (+ (t0_3_0 i_9) t0_2_0_d_3) (t0_3_0 i_9)), k!2649]))
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
