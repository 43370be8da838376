; gather-keep: y = Gather{a}(x, i), const(i), rank(i) == 0, rank(x) >= 2 => y = Reshape{dims(y)}(Gather{a}(x, Reshape{[1]}(i)))
; For all dims; 14 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   t0_1_0[i_5, i_6, i_7, i_8, (ite (< t0_2_0 0) (+ t0_2_0 t0_1_0_d_4) t0_2_0)]
;     and t0_1_0[i_5, i_6, i_7, i_8, (ite (< t0_2_0 0) (+ t0_2_0 t0_1_0_d_4) t0_2_0)]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
