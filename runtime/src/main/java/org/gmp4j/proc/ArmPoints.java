package org.gmp4j.proc;

/** Where sysmon will arm the agent's preemption points of a goroutine that overran. */
final class ArmPoints {
    /** Sysmon saw that the goroutine on {@code mp} overran its quantum by {@code nanos} and has not yielded. */
    void overran(Scheduler s, long mp, long nanos) {
        // The agent's sites are bound here.
    }
}
