; gather-gather: Gather{a}(Gather{a}(x, i), j), const(i, j), rank(i) == 1, rank(j) == 1 => Gather{a}(x, Gather{0}(i, j))
; For all dims; 15 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_7, i_8, i_9, i_10, (let ((a!1 (t0_3_0 (ite (< (t0_4_0 i_11) 0)
;                           (+ (t0_4_0 i_11) t0_3_0_d_5)
;                           (t0_4_0 i_11)))))
;     (ite (< a!1 0) (+ a!1 t0_2_0_d_4) a!1))]
;     and t0_2_0[i_7, i_8, i_9, i_10, (let ((a!1 (t0_3_0 (ite (< (t0_4_0 i_11) 0)
;                           (+ (t0_4_0 i_11) t0_3_0_d_5)
;                           (t0_4_0 i_11)))))
;     (ite (< a!1 0) (+ a!1 t0_2_0_d_4) a!1))]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
