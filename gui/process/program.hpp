#pragma once
// Where the other programs are.

#include <QString>
#include <QStringList>

namespace stagecraft::gui {

/// The command-line program: $STAGECRAFT_PROGRAM if set, else `stagecraft` beside this program, else on the PATH; ""
/// if there is none.
QString find_stagecraft();

/// What to say if there is none.
QString stagecraft_missing();

/// The folder that holds the example scenarios, of an installed or a source tree; "" if there is none.
QString scenario_folder();

}  // namespace stagecraft::gui
