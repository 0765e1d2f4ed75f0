/// The replacement of the data key.
enum Resealing {
    case ended
    case running
    /// By the disk: it is tried again.
    case failed
}
