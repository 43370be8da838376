; gather-gather: Gather{a}(Gather{a}(x, i), j), const(i, j), rank(i) == 1, rank(j) == 1 => Gather{a}(x, Gather{0}(i, j))
; For all dims; 10 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_2_0[i_6, i_7, i_8, (let ((a!1 (t0_3_0 (ite (< (t0_4_0 i_9) 0)
;                           (+ (t0_4_0 i_9) t0_3_0_d_4)
;                           (t0_4_0 i_9)))))
;     (ite (< a!1 0) (+ a!1 t0_2_0_d_3) a!1))]
;     and t0_2_0[i_6, i_7, i_8, (let ((a!1 (t0_3_0 (ite (< (t0_4_0 i_9) 0)
;                           (+ (t0_4_0 i_9) t0_3_0_d_4)
;                           (t0_4_0 i_9)))))
;     (ite (< a!1 0) (+ a!1 t0_2_0_d_3) a!1))]
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
