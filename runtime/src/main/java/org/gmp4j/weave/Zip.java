// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

import org.jspecify.annotations.Nullable;

/**
 * A zip file in memory. The content of entries can be replaced, and entries can be dropped. Unchanged entries are not compressed again. A
 * changed entry has no zip64 field. These stay: the order of the entries, their times, modes, comments and other extra fields, the file's
 * comment, and the bytes before the first entry (the start script of an executable jar).
 *
 * <p>Rejected: {@code java.util.zip}. It loses the bytes before the first entry, does not allow two entries of the same name, reads a jar
 * within a jar only from front to back, and compresses all entries again.
 *
 * <p>Format: PKWARE's APPNOTE.TXT 6.3, for files of up to 2 GB. This class knows only those parts of zip64 that a file of this size may
 * have: more than 65,535 entries, and sizes and offsets in an extra field. Not thread-safe.
 */
final class Zip {
    private static final int LOCAL = 0x04034b50;
    private static final int CENTRAL = 0x02014b50;
    private static final int END = 0x06054b50;
    private static final int END64 = 0x06064b50;
    private static final int LOCATOR64 = 0x07064b50;
    private static final int LOCAL_SIZE = 30;
    private static final int CENTRAL_SIZE = 46;
    private static final int END_SIZE = 22;
    private static final int END64_SIZE = 56;
    private static final int LOCATOR64_SIZE = 20;
    private static final int MAX_COMMENT = 0xFFFF;
    private static final int ZIP64_EXTRA = 1;
    private static final long IN_EXTRA = 0xFFFFFFFFL;

    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final int ENCRYPTED = 1;
    private static final int SIZES_BEHIND = 8;

    /** The new content of an entry, plain and as the file stores it, compressed or not. */
    private record Change(byte[] content, byte[] packed) {
    }

    final class Entry {
        /** The offset of its header in the central directory. */
        private final int central;
        private final String name;
        private final int flags;
        private final int method;
        private final long packedSize;
        private final long size;
        /** The offset of its local header. The entry's bytes, from here to {@link #end}, include all bytes before the next entry. */
        private final int start;
        private int end;
        /** The position, in the directory, of the local header's offset, which has 8 bytes if {@link #farOffset}, otherwise 4. */
        private int offsetAt;
        private boolean farOffset;

        private @Nullable Change change;
        private boolean dropped;
        private long newStart;

        private Entry(int at) throws ZipException {
            central = at;
            flags = u2(at + 8);
            method = u2(at + 10);
            name = new String(b, at + CENTRAL_SIZE, u2(at + 28), StandardCharsets.UTF_8);
            offsetAt = at + 42;
            long[] numbers = {u4(at + 24), u4(at + 20), u4(at + 42)};
            int wide = field64(at + CENTRAL_SIZE + u2(at + 28), u2(at + 30));
            for (int i = 0; i < numbers.length; i++) {
                if (numbers[i] == IN_EXTRA && wide >= 0) {
                    numbers[i] = in.getLong(wide);
                    if (i == 2) {
                        offsetAt = wide;
                        farOffset = true;
                    }
                    wide += Long.BYTES;
                }
            }
            size = numbers[0];
            packedSize = numbers[1];
            long local = base + numbers[2];
            if (local < 0 || local > b.length - LOCAL_SIZE || u4(local) != LOCAL) {
                throw new ZipException("its entry " + name + " is not where the directory says");
            }
            start = (int) local;
        }

        /** Returns the position of the value of the zip64 field among extra fields, or -1 if there is none. */
        private int field64(int from, int length) {
            for (int at = from; at + 4 <= from + length; at += 4 + u2(at + 2)) {
                if (u2(at) == ZIP64_EXTRA) {
                    return at + 4;
                }
            }
            return -1;
        }

        String name() {
            return name;
        }

        /** Returns the content as it was when the file was read. Throws a {@link ZipException} when it is damaged or cannot be decoded. */
        byte[] content() throws ZipException {
            int from = start + LOCAL_SIZE + u2(start + 26) + u2(start + 28);
            if ((flags & ENCRYPTED) != 0 || method != STORED && method != DEFLATED) {
                throw new ZipException("its entry " + name + " is encrypted, or packed in an unusual way");
            }
            if (packedSize < 0 || from + packedSize > end || size < 0 || size > Integer.MAX_VALUE - 8) {
                throw damaged();
            }
            byte[] content = method == STORED ? Arrays.copyOfRange(b, from, from + (int) packedSize) : inflate(from);
            if (content.length != size || crc(content) != u4(central + 16)) {
                throw damaged();
            }
            return content;
        }

        private byte[] inflate(int from) throws ZipException {
            Inflater inflater = new Inflater(true);
            try {
                inflater.setInput(b, from, (int) packedSize);
                ByteArrayOutputStream out = new ByteArrayOutputStream((int) Math.min(size, 1 << 20));
                byte[] part = new byte[1 << 14];
                while (!inflater.finished() && out.size() <= size) {
                    int n = inflater.inflate(part);
                    if (n == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                        throw damaged();
                    }
                    out.write(part, 0, n);
                }
                return out.toByteArray();
            } catch (DataFormatException e) {
                throw damaged();
            } finally {
                inflater.end();
            }
        }

        private ZipException damaged() {
            return new ZipException("its entry " + name + " is damaged");
        }

        void replace(byte[] content) {
            change = new Change(content, method == STORED ? content : deflate(content));
        }

        void drop() {
            dropped = true;
        }

        private void write(Output out) throws IOException {
            newStart = out.written - base;
            Change c = change;
            if (c == null) {
                out.put(b, start, end - start);
                return;
            }
            int nameLength = u2(start + 26);
            int extra = start + LOCAL_SIZE + nameLength;
            byte[] kept = without64(extra, u2(start + 28));
            byte[] header = Arrays.copyOfRange(b, start, extra);
            describe(ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN), c, 6, 14, 28, kept.length);
            out.put(header);
            out.put(kept);
            out.put(c.packed);
        }

        private void writeCentral(Output out) throws IOException {
            int extra = central + CENTRAL_SIZE + u2(central + 28);
            int length = u2(central + 30);
            Change c = change;
            if (c == null) {
                byte[] same = Arrays.copyOfRange(b, central, extra + length + u2(central + 32));
                ByteBuffer to = ByteBuffer.wrap(same).order(ByteOrder.LITTLE_ENDIAN);
                if (farOffset) {
                    to.putLong(offsetAt - central, newStart);
                } else {
                    to.putInt(offsetAt - central, (int) newStart);
                }
                out.put(same);
                return;
            }
            byte[] kept = without64(extra, length);
            byte[] header = Arrays.copyOfRange(b, central, extra);
            ByteBuffer to = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
            describe(to, c, 8, 16, 30, kept.length);
            to.putInt(42, (int) newStart);
            out.put(header);
            out.put(kept);
            out.put(b, extra + length, u2(central + 32));
        }

        /** Writes to a header the numbers that a change affects. Both headers of an entry have them, at different positions. */
        private void describe(ByteBuffer to, Change c, int flagsAt, int crcAt, int extraAt, int extraLength) {
            to.putShort(flagsAt, (short) (flags & ~SIZES_BEHIND));
            to.putInt(crcAt, (int) crc(c.content));
            to.putInt(crcAt + 4, c.packed.length);
            to.putInt(crcAt + 8, c.content.length);
            to.putShort(extraAt, (short) extraLength);
        }

        /** Returns the extra fields without the zip64 field, because a changed entry has its sizes and its offset in their usual places. */
        private byte[] without64(int from, int length) {
            int field = field64(from, length);
            if (field < 0) {
                return Arrays.copyOfRange(b, from, from + length);
            }
            byte[] kept = Arrays.copyOfRange(b, from, from + length - 4 - u2(field - 2));
            int behind = field + u2(field - 2);
            System.arraycopy(b, behind, kept, field - 4 - from, from + length - behind);
            return kept;
        }
    }

    /** Writes to a stream and counts the bytes. */
    private static final class Output {
        private final OutputStream out;
        private long written;

        Output(OutputStream out) {
            this.out = out;
        }

        void put(byte[] from) throws IOException {
            put(from, 0, from.length);
        }

        void put(byte[] from, int at, int length) throws IOException {
            out.write(from, at, length);
            written += length;
        }
    }

    private final byte[] b;
    private final ByteBuffer in;
    /** The entries in the order of the central directory. */
    private final List<Entry> entries = new ArrayList<>();
    /**
     * The number of leading bytes that the zip file's offsets do not count. It is added to each offset that is read, and subtracted from
     * each that is written.
     */
    private long base;
    private final int end;
    private final int end64;
    private int directory;

    /** Reads a zip file. If it is damaged, throws a {@link ZipException} with a message that can follow "FILE is no whole jar: ". */
    Zip(byte[] file) throws ZipException {
        b = file;
        in = ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN);
        end = findEnd();
        try {
            end64 = findEnd64();
            readDirectory();
        } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
            throw new ZipException("its directory is damaged");
        }
    }

    private int findEnd() throws ZipException {
        for (int at = b.length - END_SIZE; at >= Math.max(0, b.length - END_SIZE - MAX_COMMENT); at--) {
            if (u4(at) == END && at + END_SIZE + u2(at + 20) == b.length) {
                return at;
            }
        }
        throw new ZipException("it has no directory at its end");
    }

    private int findEnd64() {
        int locator = end - LOCATOR64_SIZE;
        if (locator < END64_SIZE || u4(locator) != LOCATOR64) {
            return -1;
        }
        int at = locator - END64_SIZE; // A record with more fields, of a later version, begins earlier and is not supported.
        return u4(at) == END64 ? at : -1;
    }

    private void readDirectory() throws ZipException {
        long count = end64 < 0 ? u2(end + 10) : in.getLong(end64 + 32);
        long size = end64 < 0 ? u4(end + 12) : in.getLong(end64 + 40);
        long offset = end64 < 0 ? u4(end + 16) : in.getLong(end64 + 48);
        int behind = end64 < 0 ? end : end64;
        base = behind - size - offset;
        if (size < 0 || size > behind || base < 0) {
            throw new ZipException("its directory is damaged, or its beginning is missing");
        }
        if (base > 0 && u4(0) == LOCAL) {
            throw new ZipException("its end is missing"); // The directory belongs to an uncompressed jar inside the file.
        }
        directory = (int) (behind - size);
        int at = directory;
        for (long i = 0; i < count; i++) {
            if (at + CENTRAL_SIZE > behind || u4(at) != CENTRAL) {
                throw new ZipException("its directory is damaged");
            }
            entries.add(new Entry(at));
            at += CENTRAL_SIZE + u2(at + 28) + u2(at + 30) + u2(at + 32);
        }
        Entry next = null;
        for (Entry e : byPlace().reversed()) {
            e.end = next == null ? directory : next.start;
            if (e.end < e.start + LOCAL_SIZE) {
                throw new ZipException("its entries lie in one another");
            }
            next = e;
        }
    }

    private List<Entry> byPlace() {
        return entries.stream().sorted(Comparator.comparingInt(e -> e.start)).toList();
    }

    List<Entry> entries() {
        return entries;
    }

    boolean isChanged() {
        return entries.stream().anyMatch(e -> e.change != null || e.dropped);
    }

    byte[] toArray() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(b.length + b.length / 16);
        write(out);
        return out.toByteArray();
    }

    void write(OutputStream stream) throws IOException {
        if (!isChanged()) {
            stream.write(b);
            return;
        }
        Output out = new Output(stream);
        List<Entry> byPlace = byPlace();
        out.put(b, 0, byPlace.getFirst().start);
        for (Entry e : byPlace) {
            if (!e.dropped) {
                e.write(out);
            }
        }
        long start = out.written - base;
        int count = 0;
        for (Entry e : entries) {
            if (!e.dropped) {
                e.writeCentral(out);
                count++;
            }
        }
        writeEnd(out, count, start);
    }

    private void writeEnd(Output out, int count, long start) throws IOException {
        long size = out.written - base - start;
        if (end64 >= 0) {
            byte[] record = Arrays.copyOfRange(b, end64, end64 + END64_SIZE + LOCATOR64_SIZE);
            ByteBuffer to = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
            to.putLong(24, count);
            to.putLong(32, count);
            to.putLong(40, size);
            to.putLong(48, start);
            to.putLong(END64_SIZE + 8, out.written - base);
            out.put(record);
        }
        byte[] record = Arrays.copyOfRange(b, end, b.length);
        ByteBuffer to = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        if (end64 < 0 || u2(end + 10) != 0xFFFF) {
            to.putShort(8, (short) count);
            to.putShort(10, (short) count);
        }
        if (end64 < 0 || u4(end + 12) != IN_EXTRA) {
            to.putInt(12, (int) size);
        }
        if (end64 < 0 || u4(end + 16) != IN_EXTRA) {
            to.putInt(16, (int) start);
        }
        out.put(record);
    }

    private int u2(int at) {
        return in.getShort(at) & 0xFFFF;
    }

    private long u4(long at) {
        return in.getInt((int) at) & IN_EXTRA;
    }

    private static long crc(byte[] content) {
        CRC32 crc = new CRC32();
        crc.update(content);
        return crc.getValue();
    }

    private static byte[] deflate(byte[] content) {
        Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        try {
            deflater.setInput(content);
            deflater.finish();
            ByteArrayOutputStream out = new ByteArrayOutputStream(content.length / 2 + 64);
            byte[] part = new byte[1 << 14];
            while (!deflater.finished()) {
                out.write(part, 0, deflater.deflate(part));
            }
            return out.toByteArray();
        } finally {
            deflater.end();
        }
    }
}
