// What pages do beyond being read; each module says what it adds.
import "./going.js";
import "./keys.js";
import "./map.js";
import "./saved.js";
import "./shelf.js";
import "./suggestions.js";
import "./theme.js";
import "./years.js";
