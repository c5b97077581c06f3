/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a flag of the JVM by the tables that the JVM exports for the serviceability agent. They have the names and the offsets. */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A table: its address, the size of an entry, and the offsets of the type's name, the field's name and the value in an entry. */
struct table {
    const char *at;
    uint64_t stride, type, field, value;
};

static bool number(void *vm, const char *name, uint64_t *out)
{
    uint64_t *p = dlsym(vm, name);

    if (p != NULL) {
        *out = *p;
    }
    return p != NULL;
}

static bool string_is(const char *entry, uint64_t offset, const char *expected)
{
    const char *s = *(const char *const *)(entry + offset);

    return s != NULL && strcmp(s, expected) == 0;
}

/* Returns the entry of a field of a type, or of the type itself if field is NULL. Returns NULL when there is none. */
static const char *find(const struct table *t, const char *type, const char *field)
{
    for (const char *e = t->at; *(const char *const *)(e + t->type) != NULL; e += t->stride) {
        if (string_is(e, t->type, type) && (field == NULL || string_is(e, t->field, field))) {
            return e;
        }
    }
    return NULL;
}

int32_t gmp_vm_counted_loops_poll(void)
{
    struct table structs, types;
    uint64_t offset;
    void *vm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);

    if (vm == NULL) {
        return -ENOENT;
    }
    const char **structs_at = dlsym(vm, "gHotSpotVMStructs"), **types_at = dlsym(vm, "gHotSpotVMTypes");
    bool known = structs_at != NULL && types_at != NULL
            && number(vm, "gHotSpotVMStructEntryArrayStride", &structs.stride)
            && number(vm, "gHotSpotVMStructEntryTypeNameOffset", &structs.type)
            && number(vm, "gHotSpotVMStructEntryFieldNameOffset", &structs.field)
            && number(vm, "gHotSpotVMStructEntryAddressOffset", &structs.value)
            && number(vm, "gHotSpotVMStructEntryOffsetOffset", &offset)
            && number(vm, "gHotSpotVMTypeEntryArrayStride", &types.stride)
            && number(vm, "gHotSpotVMTypeEntryTypeNameOffset", &types.type)
            && number(vm, "gHotSpotVMTypeEntrySizeOffset", &types.value);
    dlclose(vm); /* This drops the reference of dlopen. The library stays loaded. */
    if (!known) {
        return -ENOENT;
    }
    structs.at = *structs_at;
    types.at = *types_at;
    const char *flags = find(&structs, "JVMFlag", "flags"), *count = find(&structs, "JVMFlag", "numFlags");
    const char *name = find(&structs, "JVMFlag", "_name"), *addr = find(&structs, "JVMFlag", "_addr");
    const char *type = find(&types, "JVMFlag", NULL);
    if (flags == NULL || count == NULL || name == NULL || addr == NULL || type == NULL) {
        return -ENOENT;
    }
    const char *flag = **(const char ***)(flags + structs.value);
    size_t n = **(size_t **)(count + structs.value);
    uint64_t size = *(const uint64_t *)(type + types.value);
    uint64_t name_at = *(const uint64_t *)(name + offset), value_at = *(const uint64_t *)(addr + offset);
    for (; n > 0; n--, flag += size) {
        if (string_is(flag, name_at, "UseCountedLoopSafepoints")) {
            return **(bool *const *)(flag + value_at);
        }
    }
    return -ENOENT;
}
