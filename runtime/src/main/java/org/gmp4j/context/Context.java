// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import org.gmp4j.Cancelable;
import org.gmp4j.Chan;
import org.gmp4j.proc.GStack;
import org.gmp4j.timer.TimeBubble;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * What a piece of work is told by its caller: that it is cancelled, until when it has time, and values. Contexts form a tree; each method
 * {@code with…} makes a child. When a context is cancelled so are all below it, and none above.
 *
 * <p>Immutable but for its cancellation; thread-safe; from goroutines and plain threads. Code that makes a context that can be
 * cancelled has to cancel it when the work is done: until then, or the deadline, its parent refers to it.
 *
 * <pre>{@code
 * try (Context ctx = parent.withTimeout(Duration.ofSeconds(1))) {
 *     Reply r = replies.recvUnless(ctx); // Throws DEADLINE_EXCEEDED when no reply came.
 * }
 * }</pre>
 *
 * <p>All waits of this library take one: {@code recvUnless(ctx)}, {@code Select.runUnless(ctx)}, {@code lockUnless(ctx)},
 * {@code Go.sleepUnless(ctx, d)}. Code that may wait for the end but not bring it about gets {@link #watchOnly}. No method waits but
 * {@link #cancel}, for another cancel of the same tree that is under way; interrupts leave that alone. In a bubble of {@code Synctest}
 * deadlines go by its clock; a context made there is cancelled from there alone.
 *
 * <p>Source: Go's package {@code context}.
 */
@NullMarked
public final class Context implements Cancelable, AutoCloseable {
    /** What {@link #err} gives after {@link #cancel}: "context canceled". */
    public static final ContextException CANCELED = new ContextException.Canceled();
    /** What {@link #err} gives after the deadline: "context deadline exceeded". */
    public static final ContextException DEADLINE_EXCEEDED = new ContextException.DeadlineExceeded();

    private static final Context BACKGROUND = new Context(null, null, false, null, null, null, "context.Background");
    private static final Context TODO = new Context(null, null, false, null, null, null, "context.TODO");

    /** Where values come from that are not here; null for none. */
    private final @Nullable Context parent;
    /** What cancels this, its own or the nearest above; null for nothing. */
    private final @Nullable Cancellation cancellation;
    private final boolean own;
    private final @Nullable Instant deadline;
    private final @Nullable Object key;
    private final @Nullable Object value;
    private final String name;

    private Context(@Nullable Context parent, @Nullable Cancellation cancellation, boolean own, @Nullable Instant deadline,
            @Nullable Object key, @Nullable Object value, String name) {
        this.parent = parent;
        this.cancellation = cancellation;
        this.own = own;
        this.deadline = deadline;
        this.key = key;
        this.value = value;
        this.name = name;
    }

    /** The root: never cancelled, no deadline, no values. */
    public static Context background() {
        return BACKGROUND;
    }

    /** A child that its {@link #cancel} cancels. */
    public Context withCancel() {
        return child(deadline, "WithCancel");
    }

    private Context child(@Nullable Instant until, String kind) {
        Cancellation fresh = new Cancellation();
        Context made = new Context(this, fresh, true, until, null, null, kind);
        if (cancellation != null) {
            cancellation.add(fresh); // The last that may fail: nobody else has it.
        }
        return made;
    }

    /** A root too, for callers that have no context to hand on yet. */
    public static Context todo() {
        return TODO;
    }

    /** A child that is cancelled {@code d} from now, or earlier by {@link #cancel}. */
    public Context withTimeout(Duration d) {
        return withTimeout(d, null);
    }

    /**
     * Like {@link #withTimeout(Duration)}; when the time is up, {@link #cause} gives {@code cause}.
     *
     * @param cause why; null for {@link #DEADLINE_EXCEEDED}
     */
    public Context withTimeout(Duration d, @Nullable Throwable cause) {
        GStack.checkAll(); // A class of the JDK that finds no room as it is initialised can never be used again.
        Instant at;
        try {
            at = TimeBubble.instant().plus(d);
        } catch (ArithmeticException | java.time.DateTimeException e) {
            at = d.isNegative() ? Instant.MIN : Instant.MAX;
        }
        return withDeadline(at, d, cause);
    }

    /** A child that is cancelled at {@code at}, at once if that has passed, or earlier by {@link #cancel}. */
    public Context withDeadline(Instant at) {
        return withDeadline(at, null);
    }

    /**
     * Like {@link #withDeadline(Instant)}; when the time is up, {@link #cause} gives {@code cause}.
     *
     * @param cause why; null for {@link #DEADLINE_EXCEEDED}
     */
    public Context withDeadline(Instant at, @Nullable Throwable cause) {
        GStack.checkAll(); // As above.
        Instant now = TimeBubble.instant();
        Duration left;
        try {
            left = Duration.ofNanos(now.until(at, ChronoUnit.NANOS));
        } catch (ArithmeticException e) {
            left = Duration.ofNanos(at.isBefore(now) ? Long.MIN_VALUE : Long.MAX_VALUE);
        }
        return withDeadline(at, left, cause);
    }

    @SuppressWarnings("NullAway") // A child has a cancellation.
    private Context withDeadline(Instant at, Duration left, @Nullable Throwable cause) {
        if (deadline != null && deadline.isBefore(at)) {
            return withCancel(); // The parent's deadline comes first.
        }
        Context c = child(at, "WithDeadline");
        if (left.isNegative() || left.isZero()) {
            c.cancellation.cancel(DEADLINE_EXCEEDED, cause);
        } else if (c.cancellation.err() == null) {
            boolean set = false;
            try {
                c.cancellation.expire(left, cause);
                set = true;
            } finally {
                if (!set) {
                    Cancellation.leave(c.cancellation);
                }
            }
        }
        return c;
    }

    /**
     * A child in which {@code value(key)} is {@code value}.
     *
     * @throws NullPointerException "nil key"
     */
    public Context withValue(Object key, @Nullable Object value) {
        Objects.requireNonNull(key, "nil key");
        return new Context(this, cancellation, false, deadline, key, value, "WithValue(" + key + ")");
    }

    /**
     * A key of values of type {@code T}. No two are equal, whatever their names.
     *
     * @param <T> what is kept under it
     */
    public static final class Key<T> {
        private final String name;

        private Key(String name) {
            this.name = Objects.requireNonNull(name, "name");
        }

        /** A new key. */
        public static <T> Key<T> of(String name) {
            return new Key<>(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** As {@link #withValue(Object, Object)}, with a type that the compiler checks. */
    public <T> Context withValue(Key<T> key, @Nullable T value) {
        return withValue((Object) key, value);
    }

    /** As {@link #value(Object)}, with its type. */
    @SuppressWarnings("unchecked")
    public <T> @Nullable T value(Key<T> key) {
        return (T) value((Object) key);
    }

    /** A child with the values of this that is not cancelled with it: {@link #done}, {@link #deadline}, {@link #err} are null. */
    public Context withoutCancel() {
        return new Context(this, null, false, null, null, null, "WithoutCancel");
    }

    /** The value under an equal key here or nearest above; null when there is none. */
    public @Nullable Object value(Object key) {
        for (Context c = this; c != null; c = c.parent) {
            if (c.key != null && c.key.equals(key)) {
                return c.value;
            }
        }
        return null;
    }

    /** When this will be cancelled; null when no deadline is set. */
    public @Nullable Instant deadline() {
        return deadline;
    }

    /**
     * Cancels this context and all below, however many and however deep. When it is cancelled already, or another call is
     * cancelling it, this only waits until all below is cancelled too. The functions of {@link #afterFunc} have been started
     * then, and are not waited for.
     *
     * @throws UnsupportedOperationException when neither withCancel, withTimeout nor withDeadline made this context
     */
    public void cancel() {
        cancel(null);
    }

    /**
     * Like {@link #cancel()}, and {@link #cause} gives {@code cause}, here and below.
     *
     * @param cause why; null for {@link #CANCELED}
     */
    public void cancel(@Nullable Throwable cause) {
        if (!own || cancellation == null) {
            throw new UnsupportedOperationException(this + " cannot be cancelled: make a child withCancel");
        }
        GStack.checkAllToGive(); // All that derive from it are told, or none.
        cancellation.cancel(CANCELED, cause);
    }

    /** {@link #cancel}, for {@code try}-with-resources; nothing where that is refused, as with {@link #withValue}. */
    @Override
    public void close() {
        if (own) {
            cancel();
        }
    }

    /** The same context for code that may not cancel it: {@link #cancel} is refused. */
    public Context watchOnly() {
        return new Context(this, cancellation, false, deadline, null, null, "WatchOnly");
    }

    /**
     * A channel that is closed when this is cancelled, always the same; null when it cannot be cancelled. Users cannot close the channel:
     * {@link IllegalStateException}.
     */
    public @Nullable Chan<Void> done() {
        return cancellation == null ? null : cancellation.done();
    }

    /** Null until this is cancelled, then {@link #CANCELED} or {@link #DEADLINE_EXCEEDED}. */
    @Override
    public @Nullable ContextException err() {
        return cancellation == null ? null : cancellation.err();
    }

    /** Null until this is cancelled, then the cause that was given for what ended it, else {@link #err}. */
    public @Nullable Throwable cause() {
        return cancellation == null ? null : cancellation.cause();
    }

    /**
     * Has {@code f} started in a goroutine of its own when this is cancelled; at once if it is. When the caller is no
     * goroutine, it runs as a virtual thread.
     *
     * @return a function that keeps {@code f} from being started: true if it did, false if f was started or stopped before.
     *         It does not wait for f
     */
    public BooleanSupplier afterFunc(Runnable f) {
        Cancellation.AfterFunc a = new Cancellation.AfterFunc(f);
        if (cancellation != null) {
            cancellation.add(a);
        }
        return a;
    }

    @Override
    public BooleanSupplier whenCancelled(Runnable quick) {
        Cancellation.Told t = new Cancellation.Told(quick);
        if (cancellation != null) {
            cancellation.add(t);
        }
        return t;
    }

    /** Whether something refers to what is below, or a timer is set: for tests. */
    boolean holdsAnything() {
        return cancellation != null && cancellation.holdsAnything();
    }

    @Override
    public String toString() {
        Deque<String> names = new ArrayDeque<>(); // No recursion: the tree may be deep.
        for (Context c = this; c != null; c = c.parent) {
            names.push(c.name);
        }
        return String.join(".", names);
    }
}
