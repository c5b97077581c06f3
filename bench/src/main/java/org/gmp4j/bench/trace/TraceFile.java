// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads a file of {@code org.gmp4j.trace.Trace}: packets of Perfetto's TrackEvent, of which it knows what ours have.
 */
final class TraceFile {
    /** Told of what is in the file, in its order. */
    interface Visitor {
        /** Takes a lane; {@code parent} is 0 for the outermost. */
        void track(long uuid, long parent, String name);

        /**
         * Takes an event.
         *
         * @throws IllegalArgumentException when it cannot be; the message says what the file has
         */
        void event(Event e);
    }

    /** What an event does. */
    enum Type {
        NONE,
        BEGIN,
        END,
        INSTANT,
        COUNTER
    }

    /** An event; valid during the call that it is told in. */
    static final class Event {
        Type type = Type.NONE;
        long nanos;
        long track;
        String name = "";
        long counter;
        long flow;
        final Map<String, Long> values = new LinkedHashMap<>();

        long value(String key) {
            return values.getOrDefault(key, 0L);
        }
    }

    /** The file is not what it should be; the message is a sentence for its user. */
    static final class BadFile extends IOException {
        private static final long serialVersionUID = 1L;

        BadFile(String message) {
            super(message);
        }
    }

    /** The outermost lane, and the last event: they mark a file as ours and whole. */
    static final String TITLE = "gmp4j trace 1";

    private static final String LAST = "end of trace";

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;
    private static final int WIRE_BITS = 3;
    private static final int WIRE_MASK = 7;
    private static final long WINDOW = 1L << 30;

    private final Path file;
    private final Visitor visitor;
    private final Map<Long, String> names = new HashMap<>();
    private final Event event = new Event();
    private boolean titled;
    private boolean whole;

    private TraceFile(Path file, Visitor visitor) {
        this.file = file;
        this.visitor = visitor;
    }

    /**
     * Reads it all.
     *
     * @throws BadFile when it is truncated, damaged or no such file
     */
    static void read(Path file, Visitor visitor) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new BadFile("there is no file " + file);
        }
        new TraceFile(file, visitor).read();
    }

    private BadFile notOurs() {
        return new BadFile(file + " is no trace of gmp4j's");
    }

    private BadFile truncated() {
        return new BadFile(file + " is truncated: the trace was not ended, or the file was cut");
    }

    private void read() throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = in.size();
            long at = 0;
            while (at < size) {
                ByteBuffer b = in.map(FileChannel.MapMode.READ_ONLY, at, Math.min(WINDOW, size - at))
                        .order(ByteOrder.LITTLE_ENDIAN);
                int used = packets(b, at + b.limit() == size);
                if (used == 0) {
                    throw titled ? truncated() : notOurs();
                }
                at += used;
            }
        } catch (BufferUnderflowException e) {
            throw titled ? truncated() : notOurs();
        } catch (IllegalArgumentException e) {
            throw titled ? new BadFile(file + " is damaged: it has " + e.getMessage()) : notOurs();
        }
        if (!titled) {
            throw notOurs();
        }
        if (!whole) {
            throw truncated();
        }
    }

    /** Reads all whole packets of the window, and returns how many bytes they take. */
    private int packets(ByteBuffer b, boolean last) throws BadFile {
        while (b.hasRemaining()) {
            int start = b.position();
            if (!last && b.remaining() < 1 << 16) {
                return start; // It may be cut by the window's end: the next window begins with it.
            }
            if (varint(b) != (1 << WIRE_BITS | BYTES)) {
                throw titled ? truncated() : notOurs();
            }
            packet(piece(b));
        }
        return b.position();
    }

    private static long varint(ByteBuffer b) {
        long v = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte x = b.get();
            v |= (x & 0x7FL) << shift;
            if (x >= 0) {
                return v;
            }
        }
        throw new IllegalArgumentException("a varint that is too long");
    }

    private static ByteBuffer piece(ByteBuffer b) {
        long n = varint(b);
        if (n < 0 || n > b.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer p = b.slice(b.position(), (int) n).order(ByteOrder.LITTLE_ENDIAN);
        b.position(b.position() + (int) n);
        return p;
    }

    private static String text(ByteBuffer b) {
        return StandardCharsets.UTF_8.decode(piece(b)).toString();
    }

    private static void skip(ByteBuffer b, long tag) {
        switch ((int) tag & WIRE_MASK) {
            case VARINT -> {
                long _ = varint(b);
            }
            case FIXED64 -> {
                long _ = b.getLong();
            }
            case BYTES -> {
                ByteBuffer _ = piece(b);
            }
            case FIXED32 -> {
                int _ = b.getInt();
            }
            default -> throw new IllegalArgumentException("a field of no type");
        }
    }

    private void packet(ByteBuffer b) throws BadFile {
        boolean any = false;
        while (b.hasRemaining()) {
            long tag = varint(b);
            switch ((int) (tag >>> WIRE_BITS)) {
                case 8 -> event.nanos = varint(b);
                case 11 -> {
                    event(piece(b));
                    any = true;
                }
                case 12 -> interned(piece(b));
                case 60 -> descriptor(piece(b));
                default -> skip(b, tag);
            }
        }
        if (any) {
            if (!titled) {
                throw notOurs();
            }
            whole = event.name.equals(LAST);
            visitor.event(event);
        }
    }

    private void descriptor(ByteBuffer b) throws BadFile {
        long uuid = 0;
        long parent = 0;
        String name = "";
        while (b.hasRemaining()) {
            long tag = varint(b);
            switch ((int) (tag >>> WIRE_BITS)) {
                case 1 -> uuid = varint(b);
                case 2 -> name = text(b);
                case 5 -> parent = varint(b);
                default -> skip(b, tag);
            }
        }
        if (!titled && !name.equals(TITLE)) {
            throw notOurs();
        }
        titled = true;
        visitor.track(uuid, parent, name);
    }

    private void interned(ByteBuffer b) {
        while (b.hasRemaining()) {
            long tag = varint(b);
            if (tag >>> WIRE_BITS != 2) {
                skip(b, tag);
                continue;
            }
            ByteBuffer entry = piece(b);
            long iid = 0;
            String name = "";
            while (entry.hasRemaining()) {
                long t = varint(entry);
                switch ((int) (t >>> WIRE_BITS)) {
                    case 1 -> iid = varint(entry);
                    case 2 -> name = text(entry);
                    default -> skip(entry, t);
                }
            }
            names.put(iid, name);
        }
    }

    private void event(ByteBuffer b) {
        event.type = Type.NONE;
        event.name = "";
        event.flow = 0;
        event.values.clear();
        while (b.hasRemaining()) {
            long tag = varint(b);
            switch ((int) (tag >>> WIRE_BITS)) {
                case 4 -> annotation(piece(b));
                case 9 -> {
                    int type = (int) varint(b);
                    event.type = type > 0 && type < Type.values().length ? Type.values()[type] : Type.NONE;
                }
                case 10 -> {
                    long iid = varint(b);
                    event.name = names.get(iid);
                    if (event.name == null) {
                        throw new IllegalArgumentException("an event whose name was not told");
                    }
                }
                case 11 -> event.track = varint(b);
                case 23 -> event.name = text(b);
                case 30 -> event.counter = varint(b);
                case 47, 48 -> event.flow = b.getLong();
                default -> skip(b, tag);
            }
        }
    }

    private void annotation(ByteBuffer b) {
        String name = "";
        long value = 0;
        while (b.hasRemaining()) {
            long tag = varint(b);
            switch ((int) (tag >>> WIRE_BITS)) {
                case 4 -> value = varint(b);
                case 10 -> name = text(b);
                default -> skip(b, tag);
            }
        }
        event.values.put(name, value);
    }
}
