// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes a trace in Perfetto's format: packets with TrackEvents, all of one sequence. Names are interned, and times are in ns. Source: the
 * field numbers of {@code trace_packet.proto}, {@code track_event.proto}, {@code track_descriptor.proto}, {@code counter_descriptor.proto},
 * {@code interned_data.proto} and {@code debug_annotation.proto} in github.com/google/perfetto.
 */
public final class Perfetto {
    // Fields of Trace and TracePacket.
    private static final int PACKET = 1;
    private static final int TIMESTAMP = 8;
    private static final int SEQUENCE = 10;
    private static final int TRACK_EVENT = 11;
    private static final int INTERNED_DATA = 12;
    private static final int SEQUENCE_FLAGS = 13;
    private static final int TRACK_DESCRIPTOR = 60;
    private static final int STATE_CLEARED = 1;
    private static final int NEEDS_STATE = 2;
    // Fields of TrackDescriptor.
    private static final int UUID = 1;
    private static final int TRACK_NAME = 2;
    private static final int PARENT = 5;
    private static final int COUNTER_TRACK = 8;
    // Fields of TrackEvent.
    private static final int ANNOTATION = 4;
    private static final int TYPE = 9;
    private static final int NAME_IID = 10;
    private static final int TRACK = 11;
    private static final int NAME = 23;
    private static final int COUNTER_VALUE = 30;
    private static final int FLOW = 47;
    private static final int LAST_FLOW = 48;
    private static final int BEGIN = 1;
    private static final int END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;
    // Fields of InternedData, EventName and DebugAnnotation.
    private static final int EVENT_NAMES = 2;
    private static final int IID = 1;
    private static final int INTERNED_NAME = 2;
    private static final int INT_VALUE = 4;
    private static final int ANNOTATION_NAME = 10;

    private final OutputStream out;
    private final Map<String, Integer> names = new HashMap<>();
    private final Proto packet = new Proto();
    private final Proto event = new Proto();
    private final Proto inner = new Proto();
    private final Proto frame = new Proto();
    private boolean cleared;
    private int newName;

    /** Makes a writer. The caller closes the stream. */
    public Perfetto(OutputStream out) {
        this.out = out;
    }

    /** Writes the description of a lane. */
    public void track(long uuid, long parent, String name, boolean counter) throws IOException {
        event.clear().number(UUID, uuid).text(TRACK_NAME, name);
        if (parent != 0) {
            event.number(PARENT, parent);
        }
        if (counter) {
            event.message(COUNTER_TRACK, inner.clear());
        }
        packet.clear().message(TRACK_DESCRIPTOR, event);
        write();
    }

    /** Begins an event. Further calls add fields to the event, and {@link #put} writes it. */
    private Perfetto event(int type, long track) {
        event.clear().number(TYPE, type).number(TRACK, track);
        newName = 0;
        return this;
    }

    /** Begins a slice on a lane. */
    public Perfetto begin(long track, String name) {
        return event(BEGIN, track).name(name);
    }

    /** Ends the slice that began last on a lane. */
    public Perfetto end(long track) {
        return event(END, track);
    }

    Perfetto instant(long track, String name) {
        return event(INSTANT, track).name(name);
    }

    /** Begins an instant event whose name is not interned. */
    public Perfetto message(long track, String text) {
        event(INSTANT, track);
        event.text(NAME, text);
        return this;
    }

    Perfetto counter(long track, long value) {
        event(COUNTER, track);
        event.number(COUNTER_VALUE, value);
        return this;
    }

    private Perfetto name(String name) {
        Integer iid = names.get(name);
        if (iid == null) {
            iid = names.size() + 1;
            names.put(name, iid);
            newName = iid;
            inner.clear().number(IID, iid).text(INTERNED_NAME, name);
        }
        event.number(NAME_IID, iid);
        return this;
    }

    Perfetto flow(long id) {
        event.fixed(FLOW, id);
        return this;
    }

    Perfetto lastFlow(long id) {
        event.fixed(LAST_FLOW, id);
        return this;
    }

    Perfetto with(String name, long value) {
        frame.clear().text(ANNOTATION_NAME, name).number(INT_VALUE, value);
        event.message(ANNOTATION, frame);
        return this;
    }

    /** Writes the event that was begun last, as of the time {@code nanos}. */
    public void put(long nanos) throws IOException {
        packet.clear().number(TIMESTAMP, nanos);
        if (newName != 0) {
            packet.message(INTERNED_DATA, frame.clear().message(EVENT_NAMES, inner));
        }
        packet.message(TRACK_EVENT, event);
        write();
    }

    private void write() throws IOException {
        packet.number(SEQUENCE, 1).number(SEQUENCE_FLAGS, cleared ? NEEDS_STATE : STATE_CLEARED);
        cleared = true;
        frame.clear().message(PACKET, packet).writeTo(out);
    }
}
