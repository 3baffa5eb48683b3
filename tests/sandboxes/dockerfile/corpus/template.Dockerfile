FROM {docker_image}
{SETUP_STEPS}
