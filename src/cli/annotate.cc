#include "cli/annotate.h"

#include <algorithm>

#include "rocegen/base/error.h"
#include "rocegen/capture/copy.h"

namespace rocegen::cli {

void annotate(const std::vector<std::string>& files, const std::string& out,
              std::vector<Annotation> annotations) {
    std::stable_sort(annotations.begin(), annotations.end(),
                     [](const Annotation& a, const Annotation& b) { return a.frame < b.frame; });
    MergedReader reader{files};
    CaptureCopy copy(out, reader, "annotated by rocegen analyze");
    auto next = annotations.begin();
    std::vector<std::string_view> comments;
    for (CaptureRecord record; reader.next(record);) {
        comments.clear();
        for (; next != annotations.end() && next->frame <= reader.records(); ++next) {
            if (next->frame == reader.records()) comments.push_back(next->comment);
        }
        copy.write(record, comments);
    }
    copy.close();
}

}  // namespace rocegen::cli
