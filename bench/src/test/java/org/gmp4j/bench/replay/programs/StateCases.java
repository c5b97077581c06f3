// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.struct.Mem;

/**
 * Programs of which each has something that is easily left out of a state. In those of the group "race" a lane raises {@link Both#gate},
 * and what another does depends on whether it comes before or after that; nothing but what it has done tells it later. In those of "alike"
 * all schedules lead to one state.
 */
public final class StateCases implements Supplier<List<Program>> {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findStaticVarHandle(StateCases.class, "head", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static volatile Object head;
    private static volatile int first = 1;
    private static final Cell CELL = new Cell();
    private static final AtomicInteger COUNT = new AtomicInteger(1);
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final String STAYS = "stays";
    private static final int[][] TABLE = {{1}};

    static {
        CELL.set(1);
    }

    /** Makes the list. */
    public StateCases() {
    }

    @Override
    public List<Program> get() {
        List<Program> all = new ArrayList<>();
        all.add(race("array-copied", b -> {
            int[] from = new int[1];
            int[] to = b.keep(new int[1]);
            b.raising(() -> from[0] = 1);
            b.lane("copies", () -> {
                b.gate.set(1);
                System.arraycopy(from, 0, to, 0, 1);
            });
        }));
        all.add(race("array-filled", b -> {
            long[] x = b.keep(new long[2]);
            b.raising(() -> { });
            b.lane("fills", () -> Arrays.fill(x, b.gate.get()));
        }));
        all.add(race("array-cloned", b -> {
            int[] x = new int[1];
            AtomicReference<int[]> copy = b.keep(new AtomicReference<>());
            b.raising(() -> x[0] = 1);
            b.lane("clones", () -> {
                b.gate.set(1);
                copy.set(x.clone());
            });
        }));
        all.add(race("list-added", b -> {
            List<Integer> from = new ArrayList<>();
            List<Integer> to = b.keep(new ArrayList<>());
            b.raising(() -> from.add(1));
            b.lane("adds", () -> {
                b.gate.set(1);
                to.addAll(from);
            });
        }));
        all.add(race("list-of-list", b -> {
            List<Integer> from = new ArrayList<>();
            AtomicReference<List<Integer>> copy = b.keep(new AtomicReference<>());
            b.raising(() -> from.add(1));
            b.lane("copies", () -> {
                b.gate.set(1);
                copy.set(new ArrayList<>(from));
            });
        }));
        all.add(race("list-replaced", b -> {
            List<Integer> list = b.keep(new ArrayList<>(List.of(7)));
            b.raising(() -> { });
            b.lane("replaces", () -> list.replaceAll(_ -> b.gate.get()));
        }));
        all.add(race("text", b -> {
            StringBuilder text = b.keep(new StringBuilder());
            b.raising(() -> { });
            b.lane("appends", () -> append(text, b));
        }));
        all.add(race("atomic-not-0", b -> {
            AtomicInteger n = b.keep(new AtomicInteger(1));
            b.raising(() -> { });
            b.lane("clears", () -> b.ifFirst(() -> n.set(0)));
        }));
        all.add(race("static-not-0", b -> {
            b.raising(() -> { });
            b.lane("clears", () -> b.ifFirst(() -> first = 0));
        }));
        all.add(race("static-cell", b -> {
            b.raising(() -> { });
            b.lane("clears", () -> b.ifFirst(() -> CELL.set(0)));
        }));
        all.add(race("static-atomic", b -> {
            b.raising(() -> { });
            b.lane("clears", () -> b.ifFirst(() -> COUNT.set(0)));
        }));
        all.add(race("static-array", b -> {
            b.raising(() -> { });
            b.lane("clears", () -> b.ifFirst(() -> TABLE[0][0] = 0));
        }));
        all.add(race("static-handle", b -> {
            b.lane("puts", () -> {
                boolean _ = HEAD.compareAndSet((Object) null, (Object) "one");
            });
            b.lane("puts too", () -> {
                boolean _ = HEAD.compareAndSet((Object) null, (Object) "other");
            });
        }));
        all.add(race("monitor", b -> {
            b.lane("writes", () -> {
                synchronized (b) {
                    b.gate.set(1);
                }
            });
            b.lane("reads", () -> b.kept.set(b.gate.get()));
        }));
        all.add(race("freed", b -> {
            long at = Memory.malloc(8);
            b.raising(() -> { });
            b.lane("frees", () -> b.ifFirst(() -> Memory.free(at)));
        }));
        all.add(race("final-late", b -> {
            b.raising(() -> { });
            b.lane("makes", () -> b.kept.set(new Late(b.gate)));
        }));
        all.add(race("static-inherited", b -> {
            b.lane("sets", () -> Counter.all = 1);
            b.lane("sets too", () -> Heir.set(2));
        }));
        all.add(race("hidden-field", b -> {
            Hiding o = b.keep(new Hiding());
            b.raising(() -> { });
            b.lane("sets", () -> {
                b.ifFirst(() -> ((Hidden) o).n = 1);
                o.n = 2;
            });
        }));
        all.add(race("static-monitor", b -> b.twice(k -> {
            int _ = b.gate.get();
            keepIn(b, k);
        })));
        all.add(race("static-lock", b -> b.twice(_ -> {
            LOCK.lock();
            b.gate.set(b.gate.get() + 1);
            LOCK.unlock();
        })));
        all.add(race("living", b -> {
            b.raising(() -> { });
            b.lane("counts", () -> b.kept.set(b.living("raises")));
        }));
        all.add(race("asleep", b -> {
            b.lane(STAYS, () -> {
                b.gate.set(1);
                b.stay();
            });
            b.lane("asks", () -> b.kept.set(OsThread.state(1)));
        }));
        all.add(race("exit", b -> {
            b.lane("exits", () -> {
                int _ = b.gate.get();
                b.exit();
            });
            b.lane("sets", () -> b.kept.set(1));
        }));
        all.add(Program.of("allocated", "order", "two lanes take memory", () -> new Both(b -> {
            AtomicInteger address = b.keep(new AtomicInteger());
            b.lane("takes", () -> address.set((int) Memory.malloc(8)));
            b.lane("takes too", () -> {
                long _ = Memory.malloc(8);
                b.gate.set(1);
            });
        })).covered());
        all.add(Program.of("ended", "order", "a lane that has ended had one of two names", () -> new Both(b -> {
            b.raising(() -> { });
            b.lane("starts", () -> new Thread(() -> { }, b.gate.get() == 0 ? "a" : "b").start());
            b.lane("counts", () -> {
                while (b.living("starts") > 0 || b.living("raises") > 0) {
                    Thread.onSpinWait();
                }
                b.kept.set(b.count("a"));
            });
        })).covered());
        all.add(alike("first-user", b -> {
            AtomicInteger n = new AtomicInteger();
            b.twice(_ -> n.set(1));
        }));
        all.add(alike("first-user-parts", b -> {
            int[][] x = new int[2][1];
            b.twice(_ -> {
                b.gate.set(1);
                x[1][0] = 1;
            });
        }));
        all.add(alike("first-user-lock", b -> {
            ReentrantLock lock = new ReentrantLock();
            b.twice(_ -> {
                if (lock.tryLock()) {
                    lock.unlock();
                }
            });
        }));
        all.add(alike("first-user-done", b -> b.twice(_ -> {
            b.gate.set(1);
            b.done.set(1);
        })));
        all.add(alike("first-user-lambda", b -> b.twice(_ -> b.kept.set((Supplier<Integer>) () -> 1))));
        all.add(alike("first-user-static", b -> b.twice(_ -> {
            b.gate.set(1);
            TABLE[0][0] = 2;
        })));
        all.add(count("by-reference", b -> {
            IntSupplier gets = b.done::get;
            IntConsumer sets = b.done::set;
            b.twice(_ -> sets.accept(gets.getAsInt() + 1));
        }));
        all.add(count("of-another-class", b -> b.twice(_ -> b.counter.count = b.counter.count + 1)));
        all.add(Program.ofLoop("inherited", "two lanes count", () -> new Both(b -> {
            Heir heir = new Heir();
            b.kept.set(heir);
            b.twice(_ -> heir.raise());
        }) {
            @Override
            protected void end() {
                check(((Heir) kept.get()).count == 2, "a count is lost");
            }
        }).in("count").covered());
        all.add(Program.of("answers", "stores", "each of two lanes waits for a store of the other", () -> new Both(b -> {
            long asked = Memory.malloc(8);
            long answered = Memory.malloc(8);
            b.lane("asks", () -> {
                Mem.LONG.setRelease(asked, 1);
                await(answered);
            });
            b.lane("answers", () -> {
                await(asked);
                Mem.LONG.setRelease(answered, 1);
            });
        })));
        all.add(Program.of("own", "stores", "a lane reads its store in a monitor", () -> new Both(b -> b.lane("reads", () -> {
            long at = Memory.malloc(8);
            Mem.LONG.setRelease(at, 1);
            Case.check(read(at) == 1, "it does not see its own store");
        }))));
        all.add(Program.of("halves", "stores", "a lane reads a half of its store, and a word of which it has stored a half",
                () -> new Both(b -> b.lane("reads", () -> {
                    long at = Memory.malloc(8);
                    Mem.LONG.setRelease(at, 1L << 32 | 2);
                    Case.check(Mem.INT.getAcquire(at) == 2 && Mem.INT.getAcquire(at + 4) == 1, "it does not see the halves of its store");
                    Mem.INT.setRelease(at + 4, 3);
                    Case.check(Mem.LONG.getAcquire(at) == (3L << 32 | 2), "it does not see its store of a half");
                }))));
        all.add(Program.of("given-back", "given", "a struct is given back while a store to it is held", () -> new Both(b -> {
            long at = Memory.malloc(8);
            b.lane("stores", () -> {
                Mem.LONG.setRelease(at, 1);
                int _ = b.gate.get();
            });
            b.lane("frees", () -> Memory.free(at));
        })));
        all.add(Program.of("own-given-back", "given", "a lane stores to a struct, and gives it back", () -> new Both(b -> {
            long at = Memory.malloc(8);
            b.lane("stores", () -> {
                Mem.LONG.setRelease(at, 1);
                Memory.free(at);
            });
        })));
        all.add(Program.of("checked-at-end", "ends", "a lane ends the process, and a check fails", () -> new Both(b -> {
            b.lane("exits", () -> {
                b.exit();
                Case.check(false, "a lane fails when the process has ended");
            });
        }) {
            @Override
            protected void end() {
                check(false, "the end is checked");
            }
        }));
        all.add(Program.of("starves", "starves", "a lane reads until another has written, without a pause", () -> new Both(b -> {
            b.lane("reads", () -> {
                while (b.gate.get() == 0) {
                    continue;
                }
            });
            b.raising(() -> { });
        })).covered());
        return all;
    }

    private static void await(long word) {
        while (Mem.LONG.getAcquire(word) == 0) {
            Thread.onSpinWait();
        }
    }

    private static synchronized long read(long word) {
        return Mem.LONG.getAcquire(word);
    }

    private static synchronized void keepIn(Both b, int k) {
        b.kept.set(k);
    }

    private static void append(StringBuilder text, Both b) {
        text.append(b.gate.get());
    }

    private static Program count(String name, Consumer<Both> body) {
        return Program.of(name, "count", "two lanes count", () -> new Both(body) {
            @Override
            protected void end() {
                check(done.get() + counter.count == 2, "a count is lost");
            }
        }).covered();
    }

    private static Program race(String name, Consumer<Both> body) {
        return Program.of(name, "race", "two lanes", () -> new Both(body)).covered();
    }

    private static Program alike(String name, Consumer<Both> body) {
        return Program.of(name, "alike", "two lanes", () -> new Both(body)).covered();
    }

    /** A volatile field that another class accesses. */
    private static class Counter {
        static volatile int all;
        volatile int count;
    }

    /** A class that names fields which it inherits as its own. */
    private static final class Heir extends Counter {
        static void set(int n) {
            all = n;
        }

        void raise() {
            count = count + 1;
        }
    }

    /** A field that a subclass hides by one of the same name. */
    private static class Hidden {
        int n;
    }

    /** The subclass. */
    private static final class Hiding extends Hidden {
        int n;
    }

    /** An object that has a number before all of its final fields are written. */
    private static final class Late {
        int before = 1;
        final int late;

        Late(AtomicInteger gate) {
            late = gate.get();
        }
    }

    /** A case of two lanes. */
    private static class Both extends Case {
        final AtomicInteger gate = new AtomicInteger();
        final Counter counter = new Counter();
        final AtomicReference<Object> kept = new AtomicReference<>();
        private final Consumer<Both> body;

        Both(Consumer<Both> body) {
            this.body = body;
        }

        @Override
        protected void begin() {
            body.accept(this);
        }

        @Override
        protected void end() {
            // Nothing has to hold.
        }

        @Override
        protected boolean mayRest(String lane) {
            return lane.equals(STAYS);
        }

        /** Keeps an object to be looked at. */
        final <T> T keep(T o) {
            kept.set(o);
            return o;
        }

        final void raising(Runnable then) {
            lane("raises", () -> {
                gate.set(1);
                then.run();
            });
        }

        final void ifFirst(Runnable then) {
            if (gate.get() == 0) {
                then.run();
            }
        }

        final void twice(IntConsumer each) {
            for (int i = 0; i < 2; i++) {
                int k = i;
                lane("lane" + i, () -> each.accept(k));
            }
        }
    }
}
