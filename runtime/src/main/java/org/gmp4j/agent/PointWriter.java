package org.gmp4j.agent;

import static java.lang.classfile.constantpool.PoolEntry.*;

import static org.gmp4j.agent.Bytes.i4;
import static org.gmp4j.agent.Bytes.u2;

import java.util.HashMap;
import java.util.Map;

import org.gmp4j.agent.PointScan.MethodPoints;

/**
 * Writes the points into a class: an {@code invokedynamic ()V} in front of the first instruction of each loop header and
 * of each method that calls itself. What has no points is copied byte by byte; constants are only added, so no index
 * changes.
 *
 * <p>The rejected way is {@code java.lang.classfile}: measured over a cold start it costs ten times as much, and it
 * recomputes what we keep. The tests parse what stands here with it and compare.
 */
final class PointWriter {
    private final PointScan scan;
    private final byte[] b;
    private final Bytes out;

    /** The constants that are added. */
    private final Bytes pool = new Bytes(512);
    private int poolCount;
    /** The bootstrap methods that are added, one for each method and depth. */
    private final Bytes links = new Bytes(64);
    private int linkCount;
    private int firstLink;

    private int link;
    private int nameAndType;
    /** The name of the method at hand, as a String constant. */
    private int methodName;
    private final Map<Integer, Integer> numbers = new HashMap<>();
    /** The points of the method at hand, by depth. */
    private final Map<Integer, Integer> sites = new HashMap<>();

    private PointWriter(PointScan scan) {
        this.scan = scan;
        b = scan.classFile();
        out = new Bytes(b.length + b.length / 8 + 1024);
        poolCount = scan.poolCount();
    }

    /** The class with its points; {@code scan} has found some. */
    static byte[] write(PointScan scan) {
        return new PointWriter(scan).writeClass();
    }

    private byte[] writeClass() {
        int bootstrap = bootstrapMethods();
        firstLink = bootstrap < 0 ? 0 : u2(b, bootstrap + 6);
        int className = utf8(JdkPoint.CLASS);
        int owner = constant2(TAG_CLASS, className);
        int member = constant4(TAG_NAME_AND_TYPE, utf8(JdkPoint.LINK), utf8(JdkPoint.LINK_TYPE));
        int method = constant4(TAG_METHODREF, owner, member);
        pool.u1(TAG_METHOD_HANDLE);
        pool.u1(JdkPoint.REF_INVOKE_STATIC);
        pool.u2(method);
        link = poolCount++;
        nameAndType = constant4(TAG_NAME_AND_TYPE, utf8(JdkPoint.POINT), utf8("()V"));

        // The methods go behind the constants, and they decide which constants there are.
        Bytes methods = new Bytes(b.length + b.length / 8);
        writeMethods(methods);
        int attributeName = bootstrap < 0 ? utf8("BootstrapMethods") : 0;

        out.copy(b, 0, 8);
        out.u2(poolCount);
        out.copy(b, 10, scan.body());
        out.append(pool);
        out.copy(b, scan.body(), scan.methods());
        out.append(methods);
        writeAttributes(bootstrap, attributeName);
        return out.toArray();
    }

    /** The offset of the class's {@code BootstrapMethods}, or -1. */
    private int bootstrapMethods() {
        int at = scan.attributes();
        int count = u2(b, at);
        at += 2;
        for (int i = 0; i < count; i++) {
            if (scan.isUtf8(u2(b, at), "BootstrapMethods")) {
                return at;
            }
            at += 6 + i4(b, at + 2);
        }
        return -1;
    }

    private void writeAttributes(int bootstrap, int name) {
        int at = scan.attributes();
        out.u2(u2(b, at) + (bootstrap < 0 ? 1 : 0));
        if (bootstrap < 0) {
            out.copy(b, at + 2, b.length);
            out.u2(name);
            out.i4(2 + links.size());
            out.u2(linkCount);
            out.append(links);
            return;
        }
        int length = i4(b, bootstrap + 2);
        out.copy(b, at + 2, bootstrap + 2);
        out.i4(length + links.size());
        out.u2(firstLink + linkCount);
        out.copy(b, bootstrap + 8, bootstrap + 6 + length);
        out.append(links);
        out.copy(b, bootstrap + 6 + length, b.length);
    }

    private void writeMethods(Bytes to) {
        int at = scan.methods();
        int copied = at;
        for (MethodPoints m : scan.found()) {
            to.copy(b, copied, m.code());
            sites.clear();
            methodName = constant2(TAG_STRING, m.name());
            new CodeWriter(scan, m, to, depth -> site(m, depth)).write();
            copied = m.code() + 6 + i4(b, m.code() + 2);
        }
        to.copy(b, copied, scan.attributes());
    }

    /** The constant that a point of this depth calls. */
    private int site(MethodPoints m, int depth) {
        Integer site = sites.get(depth);
        if (site == null) {
            links.u2(link);
            links.u2(2);
            links.u2(methodName);
            links.u2(number(depth));
            site = constant4(TAG_INVOKE_DYNAMIC, firstLink + linkCount++, nameAndType);
            sites.put(depth, site);
        }
        return site;
    }

    private int number(int value) {
        return numbers.computeIfAbsent(value, v -> {
            pool.u1(TAG_INTEGER);
            pool.i4(v);
            return poolCount++;
        });
    }

    private int utf8(String text) {
        pool.u1(TAG_UTF8);
        pool.utf8(text);
        return poolCount++;
    }

    private int constant2(int tag, int index) {
        pool.u1(tag);
        pool.u2(index);
        return poolCount++;
    }

    private int constant4(int tag, int first, int second) {
        pool.u1(tag);
        pool.u2(first);
        pool.u2(second);
        return poolCount++;
    }
}
