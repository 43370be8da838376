; global-average-mean: GlobalAveragePool(x) => ReduceMean{range(2, rank(x)), 1}(x)
; For all dims; 3 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!89 k!90 k!91: [(and (>= k!89 0) (< k!89 t0_1_0_d_4)) (and (>= k!90 0) (< k!90 t0_1_0_d_3)) (and (>= k!91 0) (< k!91 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3 t0_1_0_d_4)] t0_1_0[i_5, i_6, k!91, k!90, k!89]
;     and sum k!101 k!102 k!103: [(and (>= k!101 0) (< k!101 t0_1_0_d_4)) (and (>= k!102 0) (< k!102 t0_1_0_d_3)) (and (>= k!103 0) (< k!103 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3 t0_1_0_d_4)] t0_1_0[i_5, i_6, k!103, k!102, k!101]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
