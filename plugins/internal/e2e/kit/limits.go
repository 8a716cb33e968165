package kit

// RoomyLimits gives the service more credits than its default.
const RoomyLimits = `
  limits {
    credits_hour = 5000
  }`
