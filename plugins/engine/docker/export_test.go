package docker

// Declare is Plugin with another executable for what runs beside the plugin.
var Declare = newPlugin
