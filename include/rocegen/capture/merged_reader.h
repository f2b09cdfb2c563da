/// Several capture files as one, ordered by time: at every step the earliest of their next records,
/// and of equal times the one of the file named first. A file's own order is kept: if it steps back
/// in time, so does the merge. Memory: one reader's a file. Thread: one owner.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rocegen/capture/reader.h"

namespace rocegen {

class MergedReader {
public:
    /// Throws Failure if one cannot be opened or is no capture.
    explicit MergedReader(const std::vector<std::string>& paths);
    explicit MergedReader(std::vector<CaptureReader> files);

    /// As CaptureReader::next(); `record.file` is the index of its file, and `record.interface`
    /// counts within that.
    bool next(CaptureRecord& record);

    const std::vector<CaptureReader>& files() const { return files_; }
    std::uint64_t records() const { return records_; }
    /// Of the record's file; null: not described.
    const CaptureInterface* interface_of(const CaptureRecord& record) const;

private:
    struct Head {
        CaptureRecord record;
        bool there = false;
    };
    void advance(std::size_t file);
    /// Heap order: whether file `a` comes after `b`.
    bool later(std::uint32_t a, std::uint32_t b) const;

    std::vector<CaptureReader> files_;
    std::vector<Head> heads_;
    std::vector<std::uint32_t> heap_;     ///< Files that have a head, the earliest in front.
    std::uint32_t given_ = kNoInterface;  ///< The file whose record the caller holds.
    std::uint64_t records_ = 0;
};

}  // namespace rocegen
