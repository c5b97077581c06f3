// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;

/** A trace as protobuf's own decoder reads it, by those fields of Perfetto's messages that we use; and what has to hold in each. */
final class Decoded {
    /** A stretch of a lane. */
    record Slice(String name, long begin, long end, long g, long flow) {
        long nanos() {
            return end - begin;
        }
    }

    /** A lane: its slices in the order of their ends, and its instants. */
    static final class Lane {
        final long uuid;
        final long parent;
        final String name;
        final List<Slice> slices = new ArrayList<>();
        final List<DynamicMessage> instants = new ArrayList<>();
        private final boolean counter;
        private final List<DynamicMessage> open = new ArrayList<>();
        private long last;

        Lane(long uuid, long parent, String name, boolean counter) {
            this.uuid = uuid;
            this.parent = parent;
            this.name = name;
            this.counter = counter;
        }
    }

    /** From what woke a goroutine to where it runs; an end that is not there is -1. */
    private static final class Arrow {
        private long g;
        private long from = -1;
        private long to = -1;
        private long target;
    }

    private static final Descriptor TRACE = schema();
    private static final int STATE_CLEARED = 1;
    private static final int NEEDS_STATE = 2;

    final Map<Long, Lane> lanes = new HashMap<>();
    final Map<String, Long> last = new TreeMap<>();
    final Map<Long, Arrow> arrows = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();
    private boolean begun;

    Decoded(Path file) throws IOException {
        DynamicMessage trace = DynamicMessage.parseFrom(TRACE, Files.readAllBytes(file));
        assertTrue(trace.getUnknownFields().asMap().isEmpty());
        for (Object packet : (List<?>) get(trace, "packet")) {
            packet((DynamicMessage) packet);
        }
    }

    private static FieldDescriptorProto field(String name, int number, Type type, Label label, String message) {
        FieldDescriptorProto.Builder b = FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type).setLabel(label);
        return (message == null ? b : b.setTypeName(message)).build();
    }

    private static FieldDescriptorProto one(String name, int number, Type type) {
        return field(name, number, type, Label.LABEL_OPTIONAL, null);
    }

    private static FieldDescriptorProto one(String name, int number, String message) {
        return field(name, number, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL, message);
    }

    private static FieldDescriptorProto many(String name, int number, String message) {
        return field(name, number, Type.TYPE_MESSAGE, Label.LABEL_REPEATED, message);
    }

    private static DescriptorProto message(String name, FieldDescriptorProto... fields) {
        return DescriptorProto.newBuilder().setName(name).addAllField(List.of(fields)).build();
    }

    /** Field numbers as Perfetto's .proto files have them. */
    private static Descriptor schema() {
        FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("perfetto").setSyntax("proto2")
                .addMessageType(message("Trace", many("packet", 1, "TracePacket")))
                .addMessageType(message("TracePacket", one("timestamp", 8, Type.TYPE_UINT64),
                        one("trusted_packet_sequence_id", 10, Type.TYPE_UINT32), one("track_event", 11, "TrackEvent"),
                        one("interned_data", 12, "InternedData"), one("sequence_flags", 13, Type.TYPE_UINT32),
                        one("track_descriptor", 60, "TrackDescriptor")))
                .addMessageType(message("TrackDescriptor", one("uuid", 1, Type.TYPE_UINT64), one("name", 2, Type.TYPE_STRING),
                        one("parent_uuid", 5, Type.TYPE_UINT64), one("counter", 8, "CounterDescriptor")))
                .addMessageType(message("CounterDescriptor", one("unit", 3, Type.TYPE_UINT32)))
                .addMessageType(message("TrackEvent", many("debug_annotations", 4, "DebugAnnotation"), one("type", 9, Type.TYPE_UINT32),
                        one("name_iid", 10, Type.TYPE_UINT64), one("track_uuid", 11, Type.TYPE_UINT64), one("name", 23, Type.TYPE_STRING),
                        one("counter_value", 30, Type.TYPE_INT64), one("flow_ids", 47, Type.TYPE_FIXED64),
                        one("terminating_flow_ids", 48, Type.TYPE_FIXED64)))
                .addMessageType(message("DebugAnnotation", one("int_value", 4, Type.TYPE_INT64), one("name", 10, Type.TYPE_STRING)))
                .addMessageType(message("InternedData", many("event_names", 2, "EventName")))
                .addMessageType(message("EventName", one("iid", 1, Type.TYPE_UINT64), one("name", 2, Type.TYPE_STRING)))
                .build();
        try {
            return FileDescriptor.buildFrom(file, new FileDescriptor[0]).findMessageTypeByName("Trace");
        } catch (DescriptorValidationException e) {
            throw new AssertionError(e);
        }
    }

    private static Object get(DynamicMessage m, String field) {
        return m.getField(m.getDescriptorForType().findFieldByName(field));
    }

    private static boolean has(DynamicMessage m, String field) {
        return m.hasField(m.getDescriptorForType().findFieldByName(field));
    }

    private static long number(DynamicMessage m, String field) {
        return ((Number) get(m, field)).longValue();
    }

    private void packet(DynamicMessage p) {
        assertTrue(p.getUnknownFields().asMap().isEmpty(), p::toString);
        assertEquals(1, number(p, "trusted_packet_sequence_id"));
        assertEquals(begun ? NEEDS_STATE : STATE_CLEARED, number(p, "sequence_flags")); // Else names are not those of this trace.
        begun = true;
        if (has(p, "interned_data")) {
            for (Object n : (List<?>) get((DynamicMessage) get(p, "interned_data"), "event_names")) {
                assertEquals(null, names.put(number((DynamicMessage) n, "iid"), (String) get((DynamicMessage) n, "name")), n::toString);
            }
        }
        if (has(p, "track_descriptor")) {
            DynamicMessage d = (DynamicMessage) get(p, "track_descriptor");
            Lane lane = new Lane(number(d, "uuid"), number(d, "parent_uuid"), (String) get(d, "name"), has(d, "counter"));
            assertTrue(lane.parent == 0 || lanes.containsKey(lane.parent), lane.name);
            assertEquals(null, lanes.put(lane.uuid, lane), lane.name);
        }
        if (has(p, "track_event")) {
            event((DynamicMessage) get(p, "track_event"), number(p, "timestamp"));
        }
    }

    private String name(DynamicMessage e) {
        return has(e, "name") ? (String) get(e, "name") : names.get(number(e, "name_iid"));
    }

    private final Map<DynamicMessage, Long> times = new java.util.IdentityHashMap<>();

    private void event(DynamicMessage e, long nanos) {
        Lane lane = lanes.get(number(e, "track_uuid"));
        assertTrue(lane != null, e::toString);
        assertTrue(nanos >= lane.last, () -> lane.name + " goes back by " + (lane.last - nanos) + " ns: " + e);
        lane.last = nanos;
        int type = (int) number(e, "type");
        assertEquals(lane.counter, type == 4, e::toString);
        assertTrue(type == 2 || type == 4 || name(e) != null, () -> "a name that was not told: " + e);
        if (has(e, "flow_ids")) {
            Arrow a = new Arrow();
            a.g = value(e, "g");
            a.from = nanos;
            assertEquals(null, arrows.put(number(e, "flow_ids"), a), e::toString);
        }
        if (has(e, "terminating_flow_ids")) {
            Arrow a = arrows.get(number(e, "terminating_flow_ids"));
            assertTrue(a != null && a.to < 0, () -> "an arrow from nowhere, or that ended before: " + e);
            a.to = nanos;
            a.target = value(e, "g");
        }
        switch (type) {
            case 1 -> {
                times.put(e, nanos);
                lane.open.add(e);
            }
            case 2 -> {
                assertFalse(lane.open.isEmpty(), () -> lane.name + ": an end without a beginning: " + e);
                DynamicMessage begin = lane.open.removeLast();
                lane.slices.add(new Slice(name(begin), times.get(begin), nanos, value(begin, "g"), flow(begin)));
            }
            case 3 -> {
                lane.instants.add(e);
                if (lane.uuid == 1) {
                    for (Object a : (List<?>) get(e, "debug_annotations")) {
                        last.merge((String) get((DynamicMessage) a, "name"), number((DynamicMessage) a, "int_value"), Long::sum);
                    }
                }
            }
            default -> assertTrue(type == 4 && has(e, "counter_value"), e::toString);
        }
    }

    private static long flow(DynamicMessage e) {
        return number(e, "terminating_flow_ids");
    }

    static long value(DynamicMessage e, String key) {
        for (Object a : (List<?>) get(e, "debug_annotations")) {
            if (get((DynamicMessage) a, "name").equals(key)) {
                return number((DynamicMessage) a, "int_value");
            }
        }
        return 0;
    }

    /** The lanes in the group of that name. */
    List<Lane> in(String group) {
        return lanes.values().stream().filter(l -> lanes.containsKey(l.parent) && lanes.get(l.parent).name.equals(group)).toList();
    }

    List<Slice> named(String group, String slice) {
        return in(group).stream().flatMap(l -> l.slices.stream()).filter(s -> s.name.equals(slice)).toList();
    }

    long instants(String name, String value) {
        return lanes.values().stream().flatMap(l -> l.instants.stream()).filter(e -> name.equals(name(e)))
                .mapToLong(e -> value == null ? 1 : value(e, value)).sum();
    }

    /** What holds in each trace of which nothing is missing. */
    Decoded check() {
        assertEquals(0, last.get("dropped batches"));
        assertEquals(last.get("goroutines before") + last.get("created") - last.get("ended"), last.get("goroutines after"), last::toString);
        long end = last.get("end");
        Map<Long, Long> ran = new HashMap<>();
        for (Lane p : in("Ps")) {
            assertTrue(p.open.isEmpty(), p.name);
            for (Slice s : p.slices) {
                if (s.g != 0) {
                    ran.merge(s.g, s.nanos(), Long::sum);
                }
            }
        }
        int ended = 0;
        int created = 0;
        for (Lane g : in("goroutines")) {
            assertTrue(g.open.isEmpty(), g.name);
            created += g.name.endsWith("(older than the trace)") ? 0 : 1;
            long running = 0;
            Slice before = null;
            for (Slice s : g.slices) {
                if (before != null) {
                    assertEquals(before.end, s.begin, g.name);
                    assertTrue(follows(before.name, s.name), g.name + ": " + before.name + ", then " + s.name);
                }
                running += s.name.equals("running") ? s.nanos() : 0;
                before = s;
            }
            assertTrue(before != null, g.name);
            ended += before.name.equals("running") && before.end < end ? 1 : 0;
            long sum = g.slices.stream().mapToLong(Slice::nanos).sum();
            assertEquals(before.end - g.slices.getFirst().begin, sum, g.name);
            if (last.get("schedulers") == null && !g.slices.getFirst().name.equals("running")) { // Else nobody saw on which P.
                assertEquals(running, ran.getOrDefault(Long.valueOf(g.name.substring(1, g.name.indexOf(' '))), 0L), g.name);
            }
        }
        assertEquals(last.get("created"), created);
        assertTrue(ended <= last.get("ended"), ended + " " + last);
        checkArrows();
        return this;
    }

    /** Each has both ends, at the same goroutine; but those of goroutines that had not run yet when the trace ended. */
    private void checkArrows() {
        Map<Long, String> atTheEnd = new HashMap<>();
        for (Lane g : in("goroutines")) {
            atTheEnd.put(Long.valueOf(g.name.substring(1, g.name.indexOf(' '))), g.slices.getLast().name);
        }
        for (Arrow a : arrows.values()) {
            if (a.to < 0) {
                assertTrue(last.containsKey("schedulers") || atTheEnd.get(a.g).startsWith("runnable"), () -> "G" + a.g + " was woken, and "
                        + atTheEnd.get(a.g) + " at the end");
            } else {
                assertTrue(a.from <= a.to, () -> "G" + a.g + " ran before it was woken");
                assertEquals(a.g, a.target);
            }
        }
    }

    /** The edges of a goroutine's states, as GStatus has them. */
    private static boolean follows(String a, String b) {
        return switch (a.replaceFirst(":.*", "")) {
            case "runnable" -> b.equals("running");
            case "running" -> !b.equals("running");
            case "waiting" -> b.startsWith("runnable");
            default -> !b.equals("syscall");
        };
    }
}
