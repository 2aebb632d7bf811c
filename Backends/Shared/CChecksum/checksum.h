// The instructions of processors for CRC-32C, which Swift cannot name.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

// Whether the processor has the instruction: bit 20 of ECX of leaf 1 ("SSE4.2", Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2, CPUID).
static inline int polystore_has_crc32c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 20));
}

// Returns the checksum of some bytes. Requires a processor with the instruction.
__attribute__((target("sse4.2"))) static inline uint32_t polystore_crc32c(const void *start, size_t count) {
    const unsigned char *bytes = start;
    uint64_t crc = 0xffffffff, word;
    for (; count >= 8; count -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    for (; count > 0; count--, bytes++) crc = __builtin_ia32_crc32qi((uint32_t)crc, *bytes);
    return ~(uint32_t)crc;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
static inline int polystore_has_crc32c(void) { return 1; }

static inline uint32_t polystore_crc32c(const void *start, size_t count) {
    const unsigned char *bytes = start;
    uint32_t crc = 0xffffffff;
    uint64_t word;
    for (; count >= 8; count -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        crc = __builtin_arm_crc32cd(crc, word);
    }
    for (; count > 0; count--, bytes++) crc = __builtin_arm_crc32cb(crc, *bytes);
    return ~crc;
}
#else
static inline int polystore_has_crc32c(void) { return 0; }
static inline uint32_t polystore_crc32c(const void *start, size_t count) { return (void)start, (void)count, 0; }
#endif
