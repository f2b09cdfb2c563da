#include "profile/read_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "profile/yaml_reader.h"

namespace rocegen {
namespace {

/// A profile is written by hand; what is larger is another kind of file.
constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{64} << 20;

}  // namespace

std::optional<std::string> read_file(const std::filesystem::path& path, std::string_view what,
                                     Diagnostics& diagnostics) {
    const auto refuse = [&](std::string_view why) {
        diagnostics.error({path.string(), 0, 0},
                          fmt::format("this {} cannot be read: {}", what, why));
        return std::nullopt;
    };
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return refuse("it is a directory; name a file in it");
    }
    errno = 0;
    std::ifstream in{path, std::ios::binary};
    if (!in) {
        const std::string why = std::generic_category().message(errno ? errno : EIO);
        return refuse(why + (errno == ENOENT ? "; check the name and the current directory"
                                             : "; check the file's permissions"));
    }
    if (std::filesystem::file_size(path, error) > kMaxFileBytes && !error) {
        return refuse(fmt::format("it is larger than {}", bytes_text(kMaxFileBytes)));
    }
    std::ostringstream text;
    text << in.rdbuf();
    if (in.bad()) return refuse("reading failed; check the disk");
    return text.str();
}

std::string name_from_file(const std::filesystem::path& path) {
    std::string name = path.stem().string().substr(0, 64);
    for (char& c : name) {
        if (!why_no_name({&c, 1}).empty()) c = '-';
    }
    return name.empty() ? "unnamed" : name;
}

}  // namespace rocegen
