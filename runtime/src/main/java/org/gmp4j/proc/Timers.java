package org.gmp4j.proc;

/** What the loop asks of the timers, which live a floor above. The next due time of a P is {@code p.timer0When}. */
public interface Timers {
    /**
     * Runs the due timers of {@code pp} on {@code m}, which holds a P (this or another), and says in
     * {@code m.ranTimer} whether there were any.
     *
     * @return nanoTime when the next timer of {@code pp} is due, 0 for none
     */
    long check(Machine m, long pp);

    /** Moves all timers of a P that is to die to one that lives; the world is stopped. */
    void move(long from, long to);
}
