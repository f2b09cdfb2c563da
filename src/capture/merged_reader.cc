#include "rocegen/capture/merged_reader.h"

#include <algorithm>

namespace rocegen {
namespace {

std::vector<CaptureReader> open_all(const std::vector<std::string>& paths) {
    std::vector<CaptureReader> files;
    files.reserve(paths.size());
    for (const std::string& path : paths) files.emplace_back(path);
    return files;
}

}  // namespace

MergedReader::MergedReader(const std::vector<std::string>& paths) : MergedReader(open_all(paths)) {}

MergedReader::MergedReader(std::vector<CaptureReader> files)
    : files_(std::move(files)), heads_(files_.size()) {
    heap_.reserve(files_.size());
    if (files_.size() == 1) return;
    for (std::size_t file = 0; file < files_.size(); ++file) advance(file);
}

bool MergedReader::later(std::uint32_t a, std::uint32_t b) const {
    const CaptureTime ta = heads_[a].record.time, tb = heads_[b].record.time;
    return ta != tb ? ta > tb : a > b;
}

void MergedReader::advance(std::size_t file) {
    Head& head = heads_[file];
    head.there = files_[file].next(head.record);
    if (!head.there) return;
    head.record.file = std::uint32_t(file);
    heap_.push_back(std::uint32_t(file));
    std::push_heap(heap_.begin(), heap_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return later(a, b); });
}

bool MergedReader::next(CaptureRecord& record) {
    if (files_.size() == 1 && given_ == kNoInterface && heap_.empty()) {
        if (!files_[0].next(record)) return false;  // one file: nothing to merge or copy
        ++records_;
        return true;
    }
    // Only now: the record given last lies in its reader's buffer.
    if (given_ != kNoInterface) advance(given_);
    given_ = kNoInterface;
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(),
                  [this](std::uint32_t a, std::uint32_t b) { return later(a, b); });
    given_ = heap_.back();
    heap_.pop_back();
    record = heads_[given_].record;
    ++records_;
    return true;
}

const CaptureInterface* MergedReader::interface_of(const CaptureRecord& record) const {
    const auto& interfaces = files_[record.file].interfaces();
    return record.interface < interfaces.size() ? &interfaces[record.interface] : nullptr;
}

}  // namespace rocegen
