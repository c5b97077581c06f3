// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.classfile;

import static java.lang.classfile.constantpool.PoolEntry.*;

import java.util.HashMap;
import java.util.Map;

/** Appends constants to the constant pool of a class file. Each method that appends a constant returns its index. */
public final class Constants {
    private static final int REF_INVOKE_STATIC = 6;

    private final Bytes bytes = new Bytes(512);
    private final Map<String, Integer> texts = new HashMap<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private int count;

    /** Begins with the index {@code count}, which is the class file's {@code constant_pool_count}. */
    public Constants(int count) {
        this.count = count;
    }

    public int count() {
        return count;
    }

    public void writeTo(Bytes out) {
        out.append(bytes);
    }

    public int utf8(String ascii) {
        Integer known = texts.get(ascii);
        if (known == null) {
            bytes.u1(TAG_UTF8);
            bytes.utf8(ascii);
            known = count++;
            texts.put(ascii, known);
        }
        return known;
    }

    public int number(int value) {
        Integer known = numbers.get(value);
        if (known == null) {
            bytes.u1(TAG_INTEGER);
            bytes.i4(value);
            known = count++;
            numbers.put(value, known);
        }
        return known;
    }

    public int string(int utf8) {
        return entry(TAG_STRING, utf8);
    }

    public int type(String name) {
        return entry(TAG_CLASS, utf8(name));
    }

    public int nameAndType(String name, String type) {
        return entry(TAG_NAME_AND_TYPE, utf8(name), utf8(type));
    }

    public int field(int owner, String name, String type) {
        return entry(TAG_FIELDREF, owner, nameAndType(name, type));
    }

    public int method(int owner, String name, String type) {
        return entry(TAG_METHODREF, owner, nameAndType(name, type));
    }

    public int interfaceMethod(int owner, String name, String type) {
        return entry(TAG_INTERFACE_METHODREF, owner, nameAndType(name, type));
    }

    public int staticHandle(int method) {
        bytes.u1(TAG_METHOD_HANDLE);
        bytes.u1(REF_INVOKE_STATIC);
        bytes.u2(method);
        return count++;
    }

    public int dynamic(int bootstrap, int nameAndType) {
        return entry(TAG_DYNAMIC, bootstrap, nameAndType);
    }

    public int invokeDynamic(int bootstrap, int nameAndType) {
        return entry(TAG_INVOKE_DYNAMIC, bootstrap, nameAndType);
    }

    private int entry(int tag, int index) {
        bytes.u1(tag);
        bytes.u2(index);
        return count++;
    }

    private int entry(int tag, int first, int second) {
        bytes.u1(tag);
        bytes.u2(first);
        bytes.u2(second);
        return count++;
    }
}
